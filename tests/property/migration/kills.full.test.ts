// Every step is killed before its first remote call and after each that changes something, and taken again: the same
// end, nothing lost, nothing twice.
import { afterAll, describe, expect, it } from 'vitest';
import { countUnfilled } from '../../../lib/migration/keyword-fill.ts';
import type { Phase } from '../../../lib/migration/phases.ts';
import type { StepInput } from '../../../lib/migration/runs/input.ts';
import { ofTestUser } from '../../../lib/migration/runs/run-names.ts';
import { SOURCE } from '../../../sandbox/world.ts';
import { changeByUser, deleteFirst, fingerprintOf } from '../../support/migration/holdings.ts';
import { type Migration, RUN, type StepName } from '../../support/migration/migration.ts';
import { type Death, Killed, mortal } from '../../support/migration/mortal.ts';
import { migrationAt, type Point } from '../../support/migration/prepared.ts';
import { named } from '../../support/migration/refused.ts';
import { LEASE_MS } from '../../support/migration/run-table.ts';
import { IS_FULL } from '../../support/seed.ts';

/** Every kill point in `bash .ci/run full`, otherwise every 40th; always the same ones. */
const STRIDE = IS_FULL ? 1 : 40;

/** Each in a world of its own; most of their time is waiting. */
const AT_ONCE = 6;

const SMALL = { memories: 6, users: 2, dimensions: 4 };

interface Passage {
  readonly step: StepName;
  readonly about: string;
  readonly prepare: () => Promise<Migration>;
  readonly input?: Partial<StepInput>;
}

const atUpload = (point: Point) => migrationAt(point, SMALL, { uploadAs: 'uploaded' });

/** What the step starts from, and where that is in the run. */
const RUNBOOK: readonly (readonly [StepName, about: string, Point])[] = [
  ['backup', 'before the window', 'checked'],
  ['rebuild', 'before the window', 'backed-up'],
  ['copy', 'before the window', 'rebuilt'],
  ['cutover', 'from its beginning', 'copied'],
  ['rollback', 'inside the window', 'equal'],
  ['rollback', 'from live', 'live'],
];

const inPlaceAt = (point: Point) =>
  migrationAt(point, { ...SMALL, isInPlace: true }, { inPlace: true });

const IN_PLACE: readonly (readonly [StepName, about: string, Point])[] = [
  ['rebuild', 'in place', 'backed-up'],
  ['copy', 'in place', 'rebuilt'],
  ['cutover', 'in place', 'copied'],
  ['rollback', 'in place, inside the window', 'equal'],
  ['rollback', 'in place, from live', 'live'],
  ['abort', 'in place', 'copied'],
];

const PASSAGES: readonly Passage[] = [
  ...RUNBOOK.map(([step, about, point]) => ({
    step,
    about,
    prepare: () => migrationAt(point, SMALL),
  })),
  ...IN_PLACE.map(([step, about, point]) => ({ step, about, prepare: () => inPlaceAt(point) })),
  { step: 'cutover', about: 'by upload', prepare: () => atUpload('equal') },
  {
    step: 'rollback',
    about: 'from a cutover by upload',
    prepare: async () => {
      const migration = await atUpload('equal');
      const hooks = { ask: async () => 'under-way' as const };
      // The store takes its time for each of the two snapshots: then both are uploaded, and the deployment is awaited.
      for (let n = 0; n < 4; n += 1) {
        await migration.invoke('cutover', {}, { ...migration.services, hooks });
        migration.pass(5_000);
      }
      return migration;
    },
  },
  {
    step: 'rollback',
    about: 'from live, without the old collection',
    prepare: async () => {
      const migration = await migrationAt('live', SMALL);
      await migration.services.vectors.deleteCollection(SOURCE);
      return migration;
    },
  },
  {
    step: 'copy',
    about: 'after a rollback',
    prepare: async () => {
      const migration = await migrationAt('live', SMALL);
      await migration.finish('rollback');
      await deleteFirst(migration, SOURCE);
      return migration;
    },
  },
  {
    step: 'copy',
    about: 'after a rollback, with writes to both collections',
    prepare: async () => {
      const migration = await migrationAt('live', SMALL);
      await migration.finish('rollback');
      await deleteFirst(migration, migration.target);
      await changeByUser(migration, SOURCE, 'Changed by a user');
      return migration;
    },
  },
  {
    step: 'rollback',
    about: 'from live, with a write to the old collection, too',
    prepare: async () => {
      const migration = await migrationAt('live', SMALL);
      await deleteFirst(migration, SOURCE);
      await changeByUser(migration, migration.target, 'Changed by a user');
      return migration;
    },
  },
  {
    step: 'rollback',
    about: 'inside it, with a leaked write',
    prepare: async () => {
      const migration = await migrationAt('equal', SMALL);
      const isGraphDeprecated = async () => false;
      const attempt = migration.finish('cutover', {}, { backend: { isGraphDeprecated } });
      await attempt.catch((error) => expect(error).toEqual(named('RefusedNewVersion')));
      // What the test user has there has random ids, and one of them might be the first.
      const filter = ofTestUser(await migration.runs.read(RUN));
      await migration.services.vectors.deletePoints(migration.target, { filter });
      await deleteFirst(migration, migration.target);
      return migration;
    },
  },
  {
    step: 'rollback',
    about: 'from live, as it was',
    prepare: async () => {
      const migration = await migrationAt('live', SMALL);
      await deleteFirst(migration, migration.target);
      return migration;
    },
    input: { asItWas: true },
  },
  {
    step: 'rollback',
    about: 'from live, to the snapshot',
    prepare: async () => {
      const migration = await migrationAt('live', SMALL);
      await deleteFirst(migration, migration.target);
      return migration;
    },
    input: { toSnapshot: true, acknowledgedLoss: 1 },
  },
  {
    step: 'rollback',
    about: 'from live, with a write to take along',
    prepare: async () => {
      const migration = await migrationAt('live', SMALL);
      await deleteFirst(migration, migration.target);
      return migration;
    },
  },
];

// These moves only a person makes; whatever else is left of a step, the machine finishes.
const OF_A_PERSON: Partial<Record<StepName, Phase>> = {
  abort: 'copied',
  cutover: 'copied',
  rollback: 'live',
};

/** What must be the same, whatever happened on the way. */
async function endOf({ services, runs }: Migration) {
  const { vectors, setting } = services;
  const run = await runs.read(RUN);
  const collections = (await vectors.listCollections()).toSorted();
  return {
    phase: run.phase,
    evidence: Object.keys(run.evidence).toSorted(),
    setting: await setting.read(),
    contents: await Promise.all(
      collections
        // What entities are called is up to the new version.
        .filter((name) => !name.endsWith('_entities'))
        .map(async (name) => [name, await fingerprintOf(vectors, name)]),
    ),
    slots: (await vectors.collectionInfo(SOURCE))?.config.params.sparse_vectors,
    unfilled: await countUnfilled({ store: vectors, collection: SOURCE }).catch(() => undefined),
    isLocked: (await services.lock.activeRun()) !== undefined,
  };
}

async function killed({ step, prepare, input = {} }: Passage, death: Death) {
  const migration = await prepare();
  // How often a snapshot is asked for is up to the store: the last calls of a step may not come.
  const { services } = mortal(migration.services, death);
  const wasKilled = await migration.finish(step, input, services).then(
    () => false,
    (error: unknown) => {
      if (error instanceof Killed) return true;
      throw error;
    },
  );
  points += wasKilled ? 1 : 0;
  migration.pass(LEASE_MS);
  const { phase } = await migration.runs.read(RUN);
  const isAPersons = OF_A_PERSON[step] === phase;
  await migration.finish(step, isAPersons ? input : { actor: 'machine' });
  return await endOf(migration);
}

let points = 0;

describe('a step that is killed', { timeout: 3_600_000 }, () => {
  let all = 0;

  afterAll(() => console.log(`Killed at ${points} of ${all} points, and resumed`));

  it.each(PASSAGES)('$step $about ends as if it had not been', async (passage) => {
    const whole = await passage.prepare();
    const { services, deaths } = mortal(whole.services);
    await whole.finish(passage.step, passage.input ?? {}, services);
    const end = await endOf(whole);
    all += deaths().length;
    const tried = deaths().filter((_, n) => n % STRIDE === 0);
    for (let from = 0; from < tried.length; from += AT_ONCE) {
      const batch = tried.slice(from, from + AT_ONCE);
      const outcomes = await Promise.all(batch.map((death) => killed(passage, death)));
      for (const [n, outcome] of outcomes.entries()) {
        expect(outcome, `killed ${batch[n]?.moment} call ${batch[n]?.call}`).toEqual(end);
      }
    }
  });
});
