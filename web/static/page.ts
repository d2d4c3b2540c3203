// The page at /, with its style and its scripts, as the service sends them.
import { ALWAYS_REVALIDATE, createStaticText } from '../../lib/ledger/http/static-text.ts';
import importer from '../page/importer.ts?script';
import script from '../page/main.tsx?script';
import style from '../page/page.css' with { type: 'text' };
import markup from '../page/page.html' with { type: 'text' };

export const STYLE = createStaticText(style, 'text/css');
export const SCRIPT = createStaticText(script, 'text/javascript');
export const IMPORTER = createStaticText(importer, 'text/javascript');

// The URLs of the scripts and the style contain a hash, so that a page never runs with the files of another deployment.
const page = markup
  .replace('{{style}}', STYLE.hash)
  .replace('{{script}}', SCRIPT.hash)
  .replace('{{importer}}', IMPORTER.hash);

// Allows scripts and styles of this service only, and connections to no other service.
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

// Browsers revalidate the page at every use: it names the scripts and the style of its deployment, and a cached older page would
// name files that are no longer served.
export const PAGE = createStaticText(page, 'text/html', {
  ...ALWAYS_REVALIDATE,
  'content-security-policy': POLICY,
});
