// The response to GET /openapi.json: the API description.
import description from '../../lib/ledger/http/openapi.json' with { type: 'json' };
import { createStaticText } from '../../lib/ledger/http/static-text.ts';

export const OPENAPI = createStaticText(JSON.stringify(description), 'application/json');
