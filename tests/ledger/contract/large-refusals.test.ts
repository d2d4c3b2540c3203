// The refusal of a large body is no larger than the costs of a stage assume (`largestKb`): in an attack, outgoing data cost most.
import { beforeAll, expect, test } from 'vitest';
import { ENDPOINTS_BY_ROUTE } from '../../../lib/ledger/http/endpoints/endpoints-by-route.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createTestService } from '../support/api/open-api.ts';

const KB = 1000;
/** Characters that JSON escapes in six bytes. */
const LONG = '\u0001'.repeat(1_700);
const MANY = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`${n}${LONG}`, 1]));
const ROUTES = Object.entries(ENDPOINTS_BY_ROUTE).filter(([route]) => /^(POST|PUT) /.test(route));

let api: Awaited<ReturnType<typeof openInProcess>>;

beforeAll(async () => {
  api = await openInProcess(await createTestService());
  const bill = { description: 'Bill', amount: 1, type: 'expense' };
  await api.request('POST', '/transactions', { body: bill });
  await api.request('POST', '/categories', { body: { name: 'Home' } });
});

test.each(ROUTES)('%s', async (route, { largestKb }) => {
  const [method = '', path = ''] = route.replace('{id}', '1').split(' ');
  const rows = Array.from({ length: 100 }, (_, n) => ({ id: n, [`${n}${LONG}`]: 1 }));
  const bodies = [MANY, { [LONG.repeat(90)]: 1 }, { transactions: rows }];
  for (const body of bodies) {
    const reply = await api.request(method, path, { body });
    expect(reply.status).toBeGreaterThanOrEqual(200);
    expect(reply.status).toBeLessThan(500);
    expect(JSON.stringify(reply.body).length).toBeLessThan(largestKb * KB);
  }
});
