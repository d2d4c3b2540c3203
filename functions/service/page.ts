// GET /, /page.css and /page.js, without authentication: the page for using a ledger. The page asks for a key, and shows data of
// that key's ledger only.
import { createTextEndpoint } from '../../lib/ledger/http/text-endpoint.ts';
import { IMPORTER, PAGE, SCRIPT, STYLE } from '../../web/static/page.ts';

export const handler = createTextEndpoint('Failed to show the page', (path, { part }) => {
  if (path.startsWith('/page.css')) return STYLE;
  if (!path.startsWith('/page.js')) return PAGE;
  // A part of the script that is loaded when a file is chosen.
  return part === 'importer' ? IMPORTER : SCRIPT;
});
