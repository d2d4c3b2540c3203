// The saved queries ask for fields that the log lines of the service have, in the log of every function behind the gateway.
import { expect, it, vi } from 'vitest';
import { logFailure, logRequest } from '../../lib/log.ts';
import { apiFunctionsOf, readTemplate, resourcesOf } from '../support/packaged-template.ts';

interface Query {
  readonly Name: string;
  readonly QueryString: string;
  readonly LogGroupNames: readonly { readonly Ref: string }[];
}

const template = readTemplate('migrating');
const queries = resourcesOf<Query>(template, 'AWS::Logs::QueryDefinition').map(
  ([, { Properties }]) => [Properties.Name, Properties] as const,
);

/** The names of all fields of the lines that the service writes, such as `cause.message`. */
function fieldsOfLines(): string[] {
  const lines: string[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((line) => {
    return lines.push(String(line)) > 0;
  });
  const error = vi.spyOn(console, 'error').mockImplementation((line) => void lines.push(line));
  const counts = { retries: 0, conflicts: 0, replays: 0, coldStarts: 0 };
  const request = { requestId: 'a', route: 'GET /', status: 200, duration: 1, ledger: 'home' };
  logRequest('tests', { ...request, ...counts });
  logFailure({ requestId: 'a', failure: 'Failed', cause: new Error('x') });
  write.mockRestore();
  error.mockRestore();
  return lines.flatMap((line) => fieldsOf(JSON.parse(line)));
}

function fieldsOf(value: object, prefix = ''): string[] {
  return Object.entries(value).flatMap(([name, part]) =>
    part !== null && typeof part === 'object'
      ? fieldsOf(part, `${prefix}${name}.`)
      : [`${prefix}${name}`],
  );
}

const WORDS = /\b(fields|filter|sort|stats|sum|count|as|by|and|desc|asc|limit|lost|requests)\b/g;

it.each(queries)('%s', (_, { QueryString, LogGroupNames }) => {
  const asked = QueryString.replaceAll(/"[^"]*"/g, '')
    .replaceAll(WORDS, '')
    .match(/@?[a-zA-Z][\w.]*/g);
  const known = [...fieldsOfLines(), '@timestamp', '@message'];
  expect(asked?.filter((name) => !known.includes(name))).toEqual([]);
  const groups = LogGroupNames.map(({ Ref }) => template.Resources[Ref]?.Properties);
  const names = groups.map((group) => (group as { LogGroupName: string }).LogGroupName);
  expect(names.toSorted()).toEqual(
    apiFunctionsOf(template)
      .map(([, { FunctionName }]) => `/aws/lambda/${FunctionName}`)
      .toSorted(),
  );
});

it('there is one for each question of docs/deploy.md', () => {
  expect(queries.map(([name]) => name.replace('finance-ledger-prod/', ''))).toEqual([
    ...['slowest', 'failing', 'conflicts', 'one-request', 'one-ledger'],
  ]);
});
