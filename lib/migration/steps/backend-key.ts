// Proves by reading alone that the key of the memory backend belongs to the run's test user. Another user's key would
// otherwise be found by the smoke test, in the middle of the window.
import { isRefusal, Refusal } from '../refusals.ts';
import type { Run } from '../runs/run.ts';
import { ofTestUser, testUserOf } from '../runs/run-names.ts';
import type { Services } from '../services.ts';
import type { Finding } from './prerequisites.ts';

const DETAIL = {
  proved: 'accepted, and refused for others',
  /** The backend answers for every user. */
  unverified: 'accepted; the first write shows whose it is',
} as const;

// Without a name in it: of one, the new version would make a collection of entities.
const QUESTION = 'what do i like';

/** @throws Refusal for a key of another user, or an unknown key */
export async function checkKey(services: BackendAndStore, run: Run): Promise<Finding> {
  const keyOfTestUser = await proveKey(services, run);
  return { detail: DETAIL[keyOfTestUser], problems: [], facts: { keyOfTestUser } };
}

type BackendAndStore = Pick<Services, 'backend' | 'vectors'>;

async function proveKey({ backend, vectors }: BackendAndStore, run: Run) {
  const user = testUserOf(run.runId);
  const found = await asked(backend, user);
  if (found === 'refused') {
    throw new Refusal('RefusedKeyOfOtherUser', `The memory backend refuses the key for ${user}.`);
  }
  // The test user has written nothing yet: more memories are another user's.
  const own = await vectors.count(run.plan.sourceCollection, ofTestUser(run));
  if (found > own) {
    throw new Refusal(
      'RefusedKeyOfOtherUser',
      `Asked for ${user}, who has ${own} memories, the memory backend finds ${found}: those of the key's user.`,
    );
  }
  return (await asked(backend, `${user}_stranger`)) === 'refused' ? 'proved' : 'unverified';
}

/** The most memories that either endpoint finds for the user. */
async function asked(backend: Services['backend'], user: string): Promise<number | 'refused'> {
  try {
    const counted = await backend.memoryCount(user);
    return Math.max(counted, await backend.search(user, QUESTION));
  } catch (error) {
    if (isRefusal(error, 'RefusedKeyOfOtherUser')) return 'refused';
    throw error;
  }
}
