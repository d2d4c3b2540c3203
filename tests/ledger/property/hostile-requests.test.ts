// Wrong or hostile input: never a 5xx, always the envelope.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SEED, seeded, sizeOfRun } from '../../shared/support/seed.ts';
import { expectEnvelope } from '../support/api/expect-envelope.ts';
import { generatedRequest } from '../support/api/generated-requests.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createTestService } from '../support/api/open-api.ts';
import { findRoute, isPage } from '../support/api/routes.ts';

const REQUESTS = sizeOfRun(10_000);

test(`${REQUESTS} generated requests (seed ${SEED})`, { timeout: 1_800_000 }, async () => {
  const api = await openInProcess(await createTestService());
  const answered = new Map<number, number>();
  const answersProperly = fc.asyncProperty(generatedRequest, async ({ method, path, ...rest }) => {
    fc.pre(!isPage(findRoute(method, path).functionName));
    const reply = await api.request(method, path, rest);
    answered.set(reply.status, (answered.get(reply.status) ?? 0) + 1);
    expectEnvelope(reply);
  });
  await fc.assert(answersProperly, seeded(10_000));
  // The requests are no mere nonsense: every kind of answer was drawn, and many of each.
  for (const status of [200, 201, 400, 404, 409]) {
    expect(answered.get(status), `answers ${status}`).toBeGreaterThan(REQUESTS / 100);
  }
});
