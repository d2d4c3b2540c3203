// Cases of every step in small worlds, each with the milestone from which it starts and the events before it
import { expect } from 'vitest';
import type { StepInput } from '../../../lib/migration/runs/input.ts';
import { filterTestUser } from '../../../lib/migration/runs/run-names.ts';
import { SOURCE } from '../../../sandbox/world.ts';
import {
  changeAsUser,
  deleteFromNew,
  deleteFromOld,
  deleteOldCollection,
  inSequence,
  type MigrationEvent,
} from './collections.ts';
import {
  createImageCache,
  createMigration,
  type Migration,
  type MigrationImage,
  type MigrationOptions,
  RUN,
  type StepName,
} from './migration.ts';
import { createMigrationAt, type Milestone } from './prepared.ts';
import { failureNamed } from './refused.ts';

export interface StepCase {
  readonly step: StepName;
  readonly situation: string;
  readonly prepare: () => Promise<Migration>;
  readonly input?: Partial<StepInput>;
}

interface Beginning {
  readonly before?: MigrationEvent;
  readonly plan?: Readonly<Record<string, unknown>>;
  readonly options?: MigrationOptions;
  readonly input?: Partial<StepInput>;
}

const IN_PLACE: Beginning = { plan: { inPlace: true }, options: { isInPlace: true } };
const BY_UPLOAD: Beginning = { plan: { uploadAs: 'uploaded' } };

const rollBack: MigrationEvent = (migration) => migration.finish('rollback');
const changeText = (text: string, name: (migration: Migration) => string): MigrationEvent => {
  return (migration) => changeAsUser(migration, name(migration), text);
};

/** Repeats the cutover until it has uploaded both snapshots and waits for the deployment; each snapshot takes the store a while. */
const runUntilUploaded: MigrationEvent = async (migration) => {
  const hooks = { ask: async () => 'under-way' as const };
  for (let n = 0; n < 4; n += 1) {
    await migration.invoke('cutover', {}, { ...migration.services, hooks });
    migration.advanceClock(5_000);
  }
};

const makeEarlyWrite: MigrationEvent = async (migration) => {
  const isGraphDeprecated = async () => false;
  const attempt = migration.finish('cutover', {}, { backend: { isGraphDeprecated } });
  await attempt.catch((error) => expect(error).toEqual(failureNamed('RefusedNewVersion')));
  // The test user's memories have random ids, and one of them might be the first.
  const filter = filterTestUser(await migration.runs.read(RUN));
  await migration.services.vectors.deletePoints(migration.target, { filter });
  await deleteFromNew(migration);
};

const writeToBoth = inSequence(
  deleteFromOld,
  changeText('Changed by a user', ({ target }) => target),
);
const rollBackAndWriteToBoth = inSequence(
  rollBack,
  deleteFromNew,
  changeText('Changed by a user', () => SOURCE),
);

const CASES: readonly (readonly [StepName, situation: string, Milestone, Beginning?])[] = [
  ['backup', 'before the window', 'checked'],
  ['rebuild', 'before the window', 'backed-up'],
  ['copy', 'before the window', 'rebuilt'],
  ['cutover', 'from its beginning', 'copied'],
  ['rollback', 'inside the window', 'equal'],
  ['rollback', 'from live', 'live'],
  ['rebuild', 'in place', 'backed-up', IN_PLACE],
  ['copy', 'in place', 'rebuilt', IN_PLACE],
  ['cutover', 'in place', 'copied', IN_PLACE],
  ['rollback', 'in place, inside the window', 'equal', IN_PLACE],
  ['rollback', 'in place, from live', 'live', IN_PLACE],
  ['abort', 'in place', 'copied', IN_PLACE],
  ['cutover', 'by upload', 'equal', BY_UPLOAD],
  ['rollback', 'from a cutover by upload', 'equal', { ...BY_UPLOAD, before: runUntilUploaded }],
  ['rollback', 'from live, without the old collection', 'live', { before: deleteOldCollection }],
  ['copy', 'after a rollback', 'live', { before: inSequence(rollBack, deleteFromOld) }],
  [
    'copy',
    'after a rollback, with writes to both collections',
    'live',
    { before: rollBackAndWriteToBoth },
  ],
  [
    'rollback',
    'from live, with a write to the old collection, too',
    'live',
    { before: writeToBoth },
  ],
  ['rollback', 'inside the window, with an early write', 'equal', { before: makeEarlyWrite }],
  [
    'rollback',
    'from live, with later writes left behind',
    'live',
    { before: deleteFromNew, input: { asItWas: true } },
  ],
  [
    'rollback',
    'from live, to the snapshot',
    'live',
    { before: deleteFromNew, input: { toSnapshot: true, acknowledgedLoss: 1 } },
  ],
  ['rollback', 'from live, with a write to carry over', 'live', { before: deleteFromNew }],
];

const cacheImage = createImageCache<MigrationImage>();

export const STEP_CASES: readonly StepCase[] = CASES.map(
  ([step, situation, milestone, beginning = {}]) => {
    const { before, plan = {}, options = {}, input = {} } = beginning;
    const small = { memories: 6, users: 2, dimensions: 4, ...options };
    const buildImage = async () => {
      const migration = await createMigrationAt(milestone, small, plan);
      await before?.(migration);
      return await migration.image();
    };
    const prepare = async () =>
      await createMigration(small, await cacheImage([step, situation], buildImage));
    return { step, situation, prepare, input };
  },
);
