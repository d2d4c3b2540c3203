// Wrong or hostile input to two ledgers on one table never causes a 5xx, and always gets the envelope. The responses of each
// ledger are byte for byte those of a ledger alone on its table.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IS_FULL, SEED, scaleCases, seeded } from '../../shared/support/seed.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import type { ApiResponse } from '../support/api/api-client.ts';
import { expectEnvelope } from '../support/api/expect-envelope.ts';
import { type GeneratedRequest, generatedRequest } from '../support/api/generated-requests.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn, createTestService } from '../support/api/open-api.ts';
import { findRoute, isPage } from '../support/api/routes.ts';
import { createTestKeys } from '../support/auth/test-keys.ts';

const REQUESTS = scaleCases(5_000);

test(`two ledgers respond to ${REQUESTS} generated requests as if each were alone on its table (seed ${SEED})`, async () => {
  const { client, tableName } = await createTestTable();
  let now = Date.parse('2026-01-01T00:00:00Z');
  const clock = () => new Date(now);
  const options = { ledgerId: undefined, clock };
  const shared = await openInProcess(createServiceOn({ client, tableName, ...options }));
  const keys = createTestKeys({ client, tableName }, clock);

  const callers = await Promise.all(
    ['alice', 'bob'].map(async (ledger) => {
      const { secret } = await keys.create({ name: 'test', ledger, scope: 'write' });
      const alone = await openInProcess(await createTestService({ ledgerId: ledger, clock }));
      return { authorization: `Bearer ${secret}`, alone, created: 0 };
    }),
  );

  const countsByStatus = new Map<number, number>();
  const property = fc.asyncProperty(
    fc.constantFrom(...callers),
    generatedRequest,
    async (caller, { method, path, headers, ...rest }: GeneratedRequest) => {
      now += 1_000;
      const { authorization, alone } = caller;
      const response = await shared.request(method, path, {
        ...rest,
        headers: { ...headers, authorization },
      });
      const expected = await alone.request(method, path, { ...rest, headers: headers ?? {} });
      expect(withoutRequestId(response)).toEqual(withoutRequestId(expected));
      if (!isPage(findRoute(method, path).functionName)) expectEnvelope(response);
      countsByStatus.set(response.status, (countsByStatus.get(response.status) ?? 0) + 1);
      if (response.status === 201) caller.created += 1;
    },
  );
  await fc.assert(property, seeded(5_000));
  // The requests are not all nonsense: every status occurs often. Conflicts need a long run.
  for (const status of IS_FULL ? [200, 201, 400, 404, 409] : [200, 201, 400, 404]) {
    expect(countsByStatus.get(status), `responses with ${status}`).toBeGreaterThan(REQUESTS / 100);
  }
  // Both ledgers have records, so requests to each also named ids that exist in the other.
  for (const { created } of callers) expect(created).toBeGreaterThan(REQUESTS / 100);
});

function withoutRequestId({ status, text, headers }: ApiResponse) {
  const { 'x-request-id': _, ...others } = headers;
  return { status, text, headers: others };
}
