// Wrong or hostile input to the running or deployed service never causes a 5xx, and always gets the envelope.
import fc from 'fast-check';
import { expect, inject, test } from 'vitest';
import { SEED, seeded } from '../../shared/support/seed.ts';
import { expectEnvelope } from '../support/api/expect-envelope.ts';
import { generatedRequest } from '../support/api/generated-requests.ts';
import { openTestApi } from '../support/api/open-api.ts';

const api = await openTestApi();

// The emulated gateway responds to every OPTIONS request itself.
const isEmulated = inject('deployed') !== undefined;

test(`1,000 generated requests get the envelope (seed ${SEED})`, async () => {
  const property = fc.asyncProperty(generatedRequest, async ({ method, path, ...rest }) => {
    fc.pre(!isEmulated || method !== 'OPTIONS');
    expectEnvelope(await api.request(method, path, rest));
  });
  await fc.assert(property, seeded(1_000));
});

// Browsers also send this service the cookies that other programs on localhost have set.
test.each(['prefs={"a":1}', 'a=b=c', 'a b', '=', 'name="unclosed'])(
  'a request with the cookie %s gets a response',
  async (cookie) => {
    const response = await api.request('GET', '/categories', { headers: { cookie } });
    expectEnvelope(response);
    expect(response.status).toBe(200);
    expectEnvelope(await api.request('GET', '/nowhere', { headers: { cookie } }));
  },
);
