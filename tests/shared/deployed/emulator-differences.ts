// Differences of the emulator from AWS. The product never works around them; local/emulator/emulated-stage.ts repairs some.

/** Tests of the shared suites that cannot pass on the emulator: a part of their names, and the reason */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  'GET /health': 'The emulator answers /health on every host itself.',
  'POST /health': 'As above.',
  '/health?deep&deep': 'As above.',
  'OPTIONS /nowhere':
    'The emulated gateway answers every OPTIONS request itself, even where a route handles it.',
  'OPTIONS /categories': 'As above.',
  'that is not UTF-8 is refused': 'Sent by fetch, which does not resolve subdomains of localhost.',
  'a gzip body is refused with 415': 'As above.',
  "the generated client can take the README's tour": 'As above.',
  'is no larger than the cost estimate assumes': 'As above.',
  'the files that the page names are cached for a year': 'As above.',
  'without credentials, cached for a while and revalidated by its hash': 'As above.',
  'the first view of the page needs less than 60 KB': 'As above.',
  'the first line of the script lets the browser compile it as it arrives': 'As above.',
  'the importer is a separate script, under the hash of its deployment': 'As above.',
  'the page runs only its own script and style': 'As above.',
  'an encoded slash does not separate segments':
    'The emulated gateway decodes %2F before it routes.',
  '%25 is a 404 that names the resource and the id as sent':
    'The emulated gateway keeps %25 in a path parameter.',
};
