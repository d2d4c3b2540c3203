// The document's smoke test, for a user made up for the run, and what it must prove of hybrid search.
import { hasKeywords } from '../points.ts';
import { testUserOf } from '../ports/memory-backend.ts';
import { Refusal } from '../refusals.ts';
import type { Run } from '../runs/run.ts';
import { liveCollectionOf, ofTestUser } from '../runs/run-names.ts';
import type { Services } from '../services.ts';
import { TEST_MEMORIES } from './test-memories.ts';

/** @throws Refusal naming the part that failed */
export async function smokeTest(
  { backend, vectors }: Services,
  run: Run,
  renew: () => Promise<void>,
): Promise<void> {
  const user = testUserOf(run.runId);
  await backend.health();
  await renew();
  await backend.chat(user, 'Good morning');
  for (const sentence of TEST_MEMORIES.slice(0, 2)) {
    await renew();
    await backend.addMemory(user, sentence);
  }
  if ((await backend.search(user, 'Who plays the cello, and where?')) === 0) {
    throw new Refusal('RefusedNewVersion', 'The new version does not find what it has remembered.');
  }
  if (!(await backend.isGraphDeprecated(user))) {
    throw new Refusal(
      'RefusedNewVersion',
      'The graph is not declared deprecated: is this the old version?',
    );
  }
  const filter = ofTestUser(run);
  const live = liveCollectionOf(run);
  const { points } = await vectors.scroll(live, { limit: 100, filter });
  if (points.length === 0) {
    throw new Refusal(
      'RefusedKeyOfOtherUser',
      `What was written for ${user} is not in ${live} under that user.`,
    );
  }
  if (points.some(({ vector }) => !hasKeywords(vector))) {
    throw new Refusal('RefusedSemanticOnly', 'New memories have no keyword vector.');
  }
}
