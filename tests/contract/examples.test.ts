// The examples of the API description succeed as they are, one after another on an empty ledger.
import { expect, test } from 'vitest';
import { OPERATIONS_BY_ROUTE, PARAMETERS } from '../../lib/http/operations.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createTestService } from '../support/api/open-api.ts';

test('each succeeds, and each item of a bulk request', async () => {
  const api = await openInProcess(await createTestService());
  for (const [route, { body, example, query, status = 200 }] of Object.entries(
    OPERATIONS_BY_ROUTE,
  )) {
    const [method = '', path = ''] = route.split(' ');
    expect(example === undefined, route).toBe(body === undefined);
    const required = Object.entries(query?.entries ?? {}).filter(
      ([, { type }]) => type !== 'exact_optional',
    );
    const reply = await api.request(method, path.replace('{id}', String(PARAMETERS.id?.example)), {
      query: Object.fromEntries(required.map(([name]) => [name, PARAMETERS[name]?.example ?? ''])),
      ...(example && { body: example }),
    });
    const failed = reply.body.data?.failed ?? 0;
    expect({ route, status: reply.status, failed }).toEqual({ route, status, failed: 0 });
  }
});
