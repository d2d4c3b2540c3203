// GET /openapi.json, without authentication: the API description for programs.
import { getFailureMessage, refuseAllParameters } from '../../lib/ledger/http/endpoint.ts';
import { createTextEndpoint } from '../../lib/ledger/http/text-endpoint.ts';
import { OPENAPI } from '../../web/static/openapi.ts';

export const createHandler = () =>
  createTextEndpoint(getFailureMessage('describeApi'), () => OPENAPI).use(refuseAllParameters());

export const handler = createHandler();
