// Every act of `npm run rehearse` on a real Qdrant ends as expected: forward, backward and with failures, with nothing lost.
import { expect, test } from 'vitest';
import { REAL_QDRANT } from '../support/real-services.ts';
import { rehearse } from '../support/rehearsing.ts';

const MEMORIES = '2000';

test.skipIf(!REAL_QDRANT)('every act ends as expected on a real Qdrant', async () => {
  const environment = { QDRANT_URL: REAL_QDRANT ?? '' };
  const { code, stdout, stderr } = await rehearse(['--memories', MEMORIES], environment);
  expect(code, `${stdout}\n${stderr}`).toBe(0);
});
