// No refusal is larger than the computed costs of a stage assume: in an attack, outgoing data costs most.
import { beforeAll, expect, test } from 'vitest';
import { findMaxResponseKb } from '../../../lib/ledger/http/endpoints/endpoint-declaration.ts';
import { ENDPOINTS_BY_ROUTE } from '../../../lib/ledger/http/endpoints/endpoints-by-route.ts';
import { listNamed } from '../../../lib/ledger/http/endpoints/response-forms.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createTestService } from '../support/api/open-api.ts';

const KB = 1000;
/** A text of characters that JSON escapes in six bytes each */
const LONG = '\u0001'.repeat(1_700);
const MANY = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`${n}${LONG}`, 1]));
/** 100 unknown parameters in the 10 KB that the gateway takes. */
const MANY_PARAMETERS = Array.from({ length: 100 }, (_, n) => `${n}${'%01'.repeat(33)}`).join('&');
const ENDPOINTS = Object.entries(ENDPOINTS_BY_ROUTE);

let api: Awaited<ReturnType<typeof openInProcess>>;

beforeAll(async () => {
  api = await openInProcess(await createTestService());
  const bill = { description: 'Bill', amount: 1, type: 'expense' };
  await api.request('POST', '/transactions', { body: bill });
  await api.request('POST', '/categories', { body: { name: 'Home' } });
});

test.each(ENDPOINTS.filter(([, { body }]) => body))(
  '%s refuses a body',
  async (route, declared) => {
    const [method = '', path = ''] = route.replace('{id}', '1').split(' ');
    const rows = Array.from({ length: 100 }, (_, n) => ({ id: n, [`${n}${LONG}`]: 1 }));
    const bodies = [MANY, { [LONG.repeat(90)]: 1 }, { transactions: rows }];
    for (const body of bodies) {
      const reply = await api.request(method, path, { body });
      expect(reply.status).toBeGreaterThanOrEqual(200);
      expect(reply.status).toBeLessThan(500);
      expect(JSON.stringify(reply.body).length).toBeLessThan(findMaxResponseKb(declared) * KB);
    }
  },
);

test.each(ENDPOINTS.filter(([, { body }]) => !body))(
  '%s refuses parameters and an id',
  async (route, declared) => {
    const [method = '', path = ''] = route.split(' ');
    const parameters = { query: MANY_PARAMETERS };
    const known = await api.request(method, path.replace('{id}', '1'), parameters);
    const unknown = await api.request(method, path.replace('{id}', '%22'.repeat(3_000)));
    expect(known.status).toBe(400);
    for (const { body } of [known, unknown])
      expect(JSON.stringify(body).length).toBeLessThan(findMaxResponseKb(declared) * KB);
  },
);

// Bulk requests are left out, because the largest result of a row is a refusal.
const SHOWING_MANY = ENDPOINTS.filter(
  ([, { body, response }]) =>
    !body?.item &&
    /"array"|schemas\/(Transaction|Category)"/.test(JSON.stringify(listNamed(response))),
);

test.each(SHOWING_MANY)('%s shows records or a list, and declares `maxKb`', (_, declared) => {
  expect(declared.maxKb).toBeGreaterThan(0);
});
