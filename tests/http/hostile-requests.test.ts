// Wrong or hostile input to the running service: never a 5xx, always the envelope.
import fc from 'fast-check';
import { afterAll, test } from 'vitest';
import { expectEnvelope } from '../support/api/expect-envelope.ts';
import { generatedRequest } from '../support/api/generated-requests.ts';
import { openApi } from '../support/api/open-api.ts';
import { SEED, seeded } from '../support/seed.ts';

const api = await openApi();
afterAll(() => api.close());

test(`1,000 generated requests (seed ${SEED})`, { timeout: 120_000 }, async () => {
  const answersProperly = fc.asyncProperty(generatedRequest, async ({ method, path, ...rest }) => {
    expectEnvelope(await api.request(method, path, rest));
  });
  await fc.assert(answersProperly, seeded(1_000));
});
