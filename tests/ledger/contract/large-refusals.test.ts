// No refusal is larger than the cost estimate of a stage assumes, because in an attack outgoing data costs most.
import { beforeAll, expect, test } from 'vitest';
import { findMaxResponseKb } from '../../../lib/ledger/http/endpoints/endpoint-declaration.ts';
import { ENDPOINTS_BY_ROUTE } from '../../../lib/ledger/http/endpoints/endpoints-by-route.ts';
import { listNamedSchemas } from '../../../lib/ledger/http/endpoints/response-schemas.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createTestService } from '../support/api/open-api.ts';

const KB = 1000;
/** A string of characters that JSON escapes in six bytes each */
const LONG_TEXT = '\u0001'.repeat(1_700);
const UNKNOWN_FIELDS = Object.fromEntries(
  Array.from({ length: 100 }, (_, n) => [`${n}${LONG_TEXT}`, 1]),
);
/** 100 parameters that fill the 10 KB that the gateway accepts */
const UNKNOWN_PARAMETERS = Array.from({ length: 100 }, (_, n) => `${n}${'%01'.repeat(33)}`).join(
  '&',
);
const ENDPOINTS = Object.entries(ENDPOINTS_BY_ROUTE);

let api: Awaited<ReturnType<typeof openInProcess>>;

beforeAll(async () => {
  api = await openInProcess(await createTestService());
  const bill = { description: 'Bill', amount: 1, type: 'expense' };
  await api.request('POST', '/transactions', { body: bill });
  await api.request('POST', '/categories', { body: { name: 'Home' } });
});

test.each(ENDPOINTS.filter(([, { body }]) => body))(
  'the response of %s to unknown fields is no larger than declared',
  async (route, endpoint) => {
    const [method = '', path = ''] = route.replace('{id}', '1').split(' ');
    const rows = Array.from({ length: 100 }, (_, n) => ({ id: n, [`${n}${LONG_TEXT}`]: 1 }));
    const bodies = [UNKNOWN_FIELDS, { [LONG_TEXT.repeat(90)]: 1 }, { transactions: rows }];
    for (const body of bodies) {
      const response = await api.request(method, path, { body });
      expect(response.status).toBeGreaterThanOrEqual(200);
      expect(response.status).toBeLessThan(500);
      expect(JSON.stringify(response.body).length).toBeLessThan(findMaxResponseKb(endpoint) * KB);
    }
  },
);

test.each(ENDPOINTS.filter(([, { body }]) => !body))(
  'the response of %s to unknown parameters or an invalid id is no larger than declared',
  async (route, endpoint) => {
    const [method = '', path = ''] = route.split(' ');
    const parameters = { query: UNKNOWN_PARAMETERS };
    const parameterRefusal = await api.request(method, path.replace('{id}', '1'), parameters);
    const idRefusal = await api.request(method, path.replace('{id}', '%22'.repeat(3_000)));
    expect(parameterRefusal.status).toBe(400);
    for (const { body } of [parameterRefusal, idRefusal])
      expect(JSON.stringify(body).length).toBeLessThan(findMaxResponseKb(endpoint) * KB);
  },
);

// Bulk requests are left out, because their largest result for a row is a refusal.
const ENDPOINTS_WITH_RECORDS = ENDPOINTS.filter(
  ([, { body, response }]) =>
    !body?.item &&
    /"array"|schemas\/(Transaction|Category)"/.test(JSON.stringify(listNamedSchemas(response))),
);

test.each(ENDPOINTS_WITH_RECORDS)(
  '%s returns records or a list, and declares `maxKb`',
  (_, endpoint) => {
    expect(endpoint.maxKb).toBeGreaterThan(0);
  },
);
