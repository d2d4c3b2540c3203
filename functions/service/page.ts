// GET /, /page.css and /page.js, without authentication: the page in which people keep their ledger. It asks for a key, and shows
// data of that key's ledger only.

import {
  hashOf,
  REVALIDATED,
  staticText,
  textEndpoint,
} from '../../lib/ledger/http/static-text.ts';
import importer from '../../web/page/importer.ts?script';
import script from '../../web/page/main.tsx?script';
import style from '../../web/page/page.css' with { type: 'text' };
import markup from '../../web/page/page.html' with { type: 'text' };

// A page never runs with the script or the style of another deployment: their addresses say which.
const page = markup
  .replace('{{style}}', hashOf(style))
  .replace('{{script}}', hashOf(script))
  .replace('{{importer}}', hashOf(importer));

// Scripts and styles of this service alone, and no other service is asked for anything.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

// It names the script and the style of its deployment, which serves no other ones.
const PAGE = staticText(page, 'text/html', { ...REVALIDATED, 'content-security-policy': POLICY });
const STYLE = staticText(style, 'text/css');
const SCRIPT = staticText(script, 'text/javascript');
const IMPORTER = staticText(importer, 'text/javascript');

export const handler = textEndpoint((path, query) => {
  if (path.startsWith('/page.css')) return STYLE;
  if (!path.startsWith('/page.js')) return PAGE;
  // A part of the script that is loaded when a file is chosen.
  return /(^|&)part=importer(&|$)/.test(query) ? IMPORTER : SCRIPT;
});
