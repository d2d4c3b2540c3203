// GET /docs, without authentication: the API description as a page on which calls can be tried. The viewer is in this
// bundle, and the page loads nothing else but /openapi.json.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import middy from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import viewerStyle from 'swagger-ui-dist/swagger-ui.css' with { type: 'text' };
import viewer from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'text' };
import pageStyle from '../../lib/docs-page/page.css' with { type: 'text' };
import start from '../../lib/docs-page/viewer.js' with { type: 'text' };
import type { ApiEvent } from '../../lib/http/api-event.ts';
import { SECURITY_HEADERS } from '../../lib/http/envelope.ts';
import { requestLog } from '../../lib/http/request-log.ts';

const SCRIPT = `${viewer}\n${start}`;
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
<div id="viewer"></div>
<script>${SCRIPT}</script>
</body>
</html>
`;

// Nothing runs on the page but these texts, and it reaches nothing but this service.
const POLICY = [
  "default-src 'none'",
  `script-src ${hashOf(SCRIPT)}`,
  `style-src ${hashOf(STYLE)}`,
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

// 2 MB, which the gateway does not compress.
const COMPRESSED = gzipSync(PAGE).toString('base64');

export const handler = middy<ApiEvent, APIGatewayProxyStructuredResultV2>()
  .use(requestLog())
  .handler(async (_event, { awsRequestId }) => ({
    statusCode: 200,
    headers: {
      ...SECURITY_HEADERS,
      'content-type': 'text/html; charset=utf-8',
      'content-encoding': 'gzip',
      'content-security-policy': POLICY,
      'cache-control': 'public, max-age=300',
      'x-request-id': awsRequestId,
    },
    body: COMPRESSED,
    isBase64Encoded: true,
  }));

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
