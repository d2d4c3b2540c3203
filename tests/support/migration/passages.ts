// Passages of a run from one point to the next: what each step starts from, of small worlds.
import { expect } from 'vitest';
import type { StepInput } from '../../../lib/migration/runs/input.ts';
import { ofTestUser } from '../../../lib/migration/runs/run-names.ts';
import { SOURCE } from '../../../sandbox/world.ts';
import { changeByUser, deleteFirst } from './holdings.ts';
import { type Migration, RUN, type StepName } from './migration.ts';
import { migrationAt, type Point } from './prepared.ts';
import { named } from './refused.ts';

const SMALL = { memories: 6, users: 2, dimensions: 4 };

export interface Passage {
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

export const PASSAGES: readonly Passage[] = [
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
