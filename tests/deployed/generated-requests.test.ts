// Wrong or hostile input to the deployed service: never a 5xx, always the envelope.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectEnvelope } from '../support/api/expect-envelope.ts';
import { generatedRequest } from '../support/api/generated-requests.ts';
import { openApi } from '../support/api/open-api.ts';
import { SEED, seeded, sizeOfRun } from '../support/seed.ts';

const RUNS = 300;

const api = await openApi();

test(`generated requests, none of them OPTIONS (seed ${SEED})`, async () => {
  let sent = 0;
  const answersProperly = fc.asyncProperty(generatedRequest, async ({ method, path, ...rest }) => {
    fc.pre(method !== 'OPTIONS');
    expectEnvelope(await api.request(method, path, rest));
    sent += 1;
  });
  await fc.assert(answersProperly, seeded(RUNS));
  expect(sent).toBeGreaterThanOrEqual(sizeOfRun(RUNS));
});
