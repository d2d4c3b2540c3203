// Every step is killed before its first remote call and after each call that changes something, and then repeated. It always
// ends in the same state, with nothing lost and nothing done twice.
import { afterAll, describe, expect, it } from 'vitest';
import { countUnfilled } from '../../../lib/migration/keyword-fill.ts';
import type { Phase } from '../../../lib/migration/phases.ts';
import { SOURCE } from '../../../sandbox/world.ts';
import { IS_FULL } from '../../shared/support/seed.ts';
import { computeFingerprint } from '../support/collections.ts';
import { createKillableServices, Killed, type KillPoint } from '../support/killable-services.ts';
import { type Migration, RUN, type StepName } from '../support/migration.ts';
import { LEASE_MS } from '../support/run-table.ts';
import { STEP_CASES, type StepCase } from '../support/step-cases.ts';

/** Every kill point in `bash .ci/run full`, otherwise every 40th */
const STRIDE = IS_FULL ? 1 : 40;

/** Number of kill points tried at once, each in a separate world, because most of their time is waiting */
const CONCURRENCY = 6;

// In these phases only a person may start the step; the state machine can finish any other.
const PERSON_STARTS_IN: Partial<Record<StepName, Phase>> = {
  abort: 'copied',
  cutover: 'copied',
  rollback: 'live',
};

/** Reads the state that must be the same at the end of every case. */
async function readFinalState({ services, runs }: Migration) {
  const { vectors, setting } = services;
  const run = await runs.read(RUN);
  const collections = (await vectors.listCollections()).toSorted();
  return {
    phase: run.phase,
    evidence: Object.keys(run.evidence).toSorted(),
    setting: await setting.read(),
    contents: await Promise.all(
      collections
        // The new version chooses the names of entities.
        .filter((name) => !name.endsWith('_entities'))
        .map(async (name) => [name, await computeFingerprint(vectors, name)]),
    ),
    slots: (await vectors.readCollectionInfo(SOURCE))?.config.params.sparse_vectors,
    unfilled: await countUnfilled({ store: vectors, collection: SOURCE }).catch(() => undefined),
    isLocked: (await services.lock.activeRun()) !== undefined,
  };
}

async function runAndKill({ step, prepare, input = {} }: StepCase, killPoint: KillPoint) {
  const migration = await prepare();
  // A step may make fewer calls than before, because the store decides how often the step has to ask for a snapshot.
  const { services } = createKillableServices(migration.services, killPoint);
  const wasKilled = await migration.finish(step, input, services).then(
    () => false,
    (error: unknown) => {
      if (error instanceof Killed) return true;
      throw error;
    },
  );
  kills += wasKilled ? 1 : 0;
  migration.advanceClock(LEASE_MS);
  const { phase } = await migration.runs.read(RUN);
  const needsPerson = PERSON_STARTS_IN[step] === phase;
  await migration.finish(step, needsPerson ? input : { actor: 'machine' });
  return await readFinalState(migration);
}

let kills = 0;

describe('a step that is killed', { timeout: 3_600_000 }, () => {
  let total = 0;

  afterAll(() => console.log(`Killed at ${kills} of ${total} points, and repeated`));

  it.each(STEP_CASES)('$step $situation ends as if it had not been killed', async (stepCase) => {
    const undisturbed = await stepCase.prepare();
    const { services, killPoints } = createKillableServices(undisturbed.services);
    await undisturbed.finish(stepCase.step, stepCase.input ?? {}, services);
    const expected = await readFinalState(undisturbed);
    total += killPoints().length;
    const chosen = killPoints().filter((_, n) => n % STRIDE === 0);
    for (let from = 0; from < chosen.length; from += CONCURRENCY) {
      const batch = chosen.slice(from, from + CONCURRENCY);
      const outcomes = await Promise.all(batch.map((killPoint) => runAndKill(stepCase, killPoint)));
      for (const [n, outcome] of outcomes.entries()) {
        expect(outcome, `killed ${batch[n]?.moment} call ${batch[n]?.call}`).toEqual(expected);
      }
    }
  });
});
