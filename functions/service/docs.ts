// GET /docs, without authentication: the API description as a page on which calls can be tried.
import { textEndpoint } from '../../lib/ledger/http/text-endpoint.ts';
import { DOCS } from '../../web/static/docs.ts';

export const handler = textEndpoint('Failed to show the page', () => DOCS);
