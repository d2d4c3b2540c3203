// The answer to GET /openapi.json: the API description.
import description from '../../lib/ledger/http/openapi.json' with { type: 'json' };
import { staticText } from '../../lib/ledger/http/static-text.ts';

export const OPENAPI = staticText(JSON.stringify(description), 'application/json');
