// GET /openapi.json, without authentication: what the API takes and answers, for programs.
import { endpoint, noParameters } from '../../lib/ledger/http/endpoint.ts';
import description from '../../lib/ledger/http/openapi.json' with { type: 'json' };

export const createHandler = () =>
  endpoint('Failed to describe the API')
    .use(noParameters())
    .handler(async () => ({
      status: 200,
      body: description,
      headers: { 'cache-control': 'public, max-age=300' },
    }));

export const handler = createHandler();
