// The page at /docs, with the API viewer embedded. The page loads /openapi.json and nothing else.
import { createHash } from 'node:crypto';
import viewerStyle from 'swagger-ui-dist/swagger-ui.css' with { type: 'text' };
import viewer from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'text' };
import { createStaticText } from '../../lib/ledger/http/static-text.ts';
import pageStyle from '../docs/page.css' with { type: 'text' };
import startScript from '../docs/viewer.js' with { type: 'text' };

const SCRIPT = `${viewer}\n${startScript}`;
const STYLE = `${viewerStyle}\n${pageStyle}`;

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Finance ledger API</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<nav class="back" aria-label="Service"><a href="/">‹ Finance ledger</a></nav>
<div id="viewer"></div>
<script>${SCRIPT}</script>
</body>
</html>
`;

// Allows only this script and this style, and connections only to this service.
const POLICY = [
  "default-src 'none'",
  `script-src ${sourceHash(SCRIPT)}`,
  `style-src ${sourceHash(STYLE)}`,
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const DOCS = createStaticText(PAGE, 'text/html', { 'content-security-policy': POLICY });

function sourceHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
