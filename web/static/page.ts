// The page at /, its style and its scripts.
import { REVALIDATED, staticText } from '../../lib/ledger/http/static-text.ts';
import importer from '../page/importer.ts?script';
import script from '../page/main.tsx?script';
import style from '../page/page.css' with { type: 'text' };
import markup from '../page/page.html' with { type: 'text' };

export const STYLE = staticText(style, 'text/css');
export const SCRIPT = staticText(script, 'text/javascript');
export const IMPORTER = staticText(importer, 'text/javascript');

// A page never runs with the script or the style of another deployment: their addresses say which.
const page = markup
  .replace('{{style}}', STYLE.hash)
  .replace('{{script}}', SCRIPT.hash)
  .replace('{{importer}}', IMPORTER.hash);

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
export const PAGE = staticText(page, 'text/html', {
  ...REVALIDATED,
  'content-security-policy': POLICY,
});
