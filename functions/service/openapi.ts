// GET /openapi.json, without authentication: the API description for programs.
import { failureMessage, noParameters } from '../../lib/ledger/http/endpoint.ts';
import { textEndpoint } from '../../lib/ledger/http/text-endpoint.ts';
import { OPENAPI } from '../../web/static/openapi.ts';

export const createHandler = () =>
  textEndpoint(failureMessage('describeApi'), () => OPENAPI).use(noParameters());

export const handler = createHandler();
