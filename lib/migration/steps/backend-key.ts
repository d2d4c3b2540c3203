// Proves, without writing, that the API key of the memory backend belongs to the run's test user. Without this check, only the
// smoke test in the middle of the window would reveal another user's key.
import { isRefusal, Refusal } from '../refusals.ts';
import { filterTestUser, testUserOf } from '../runs/run-names.ts';
import type { Services } from '../services.ts';
import { MEMORY_BACKEND } from './backend-endpoints.ts';
import { VECTOR_LAYOUT } from './collection-checks.ts';
import { type CheckContext, defineCheck } from './prerequisites.ts';

const DETAIL = {
  proved: 'accepted, and refused for others',
  /** The backend accepts the key for every user. */
  unverified: 'accepted; the first write shows whose it is',
} as const;

// Contains no name: for a name, the new version would create its entity collection.
const QUESTION = 'what do i like';

export const KEY_OF_TEST_USER = defineCheck({
  name: 'API key of the test user',
  needs: [MEMORY_BACKEND, VECTOR_LAYOUT],
  read: proveKey,
  detail: (proof) => DETAIL[proof],
  facts: (keyOfTestUser) => ({ keyOfTestUser }),
  rules: [],
});

/** @throws Refusal for a key of another user, or an unknown key */
async function proveKey({ services, run }: CheckContext): Promise<keyof typeof DETAIL> {
  const { backend, vectors } = services;
  const user = testUserOf(run.runId);
  const returned = await countMemories(backend, user);
  if (returned === 'refused') {
    throw new Refusal('RefusedKeyOfOtherUser', `The memory backend refuses the key for ${user}.`);
  }
  // Memories beyond those stored for the test user are another user's.
  const stored = await vectors.count(run.plan.sourceCollection, filterTestUser(run));
  if (returned > stored) {
    throw new Refusal(
      'RefusedKeyOfOtherUser',
      `Asked for ${user}, who has ${stored} memories, the memory backend finds ${returned}: those of the key's user.`,
    );
  }
  return (await countMemories(backend, `${user}_stranger`)) === 'refused' ? 'proved' : 'unverified';
}

/** Counts the user's memories through two endpoints. @returns the larger number */
async function countMemories(
  backend: Services['backend'],
  user: string,
): Promise<number | 'refused'> {
  try {
    const counted = await backend.countMemories(user);
    return Math.max(counted, await backend.search(user, QUESTION));
  } catch (error) {
    if (isRefusal(error, 'RefusedKeyOfOtherUser')) return 'refused';
    throw error;
  }
}
