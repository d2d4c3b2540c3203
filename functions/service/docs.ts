// GET /docs, without authentication: the API description as a page on which calls can be tried.
import { createTextEndpoint } from '../../lib/ledger/http/text-endpoint.ts';
import { DOCS } from '../../web/static/docs.ts';

export const handler = createTextEndpoint('Failed to show the page', () => DOCS);
