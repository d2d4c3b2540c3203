// The copy: its dry run, its searches, and how fast it reads.
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { VectorStore } from '../../../../lib/migration/adapters/qdrant.ts';
import { userDigest } from '../../../../lib/migration/points.ts';
import { advance } from '../../../../lib/migration/runs/advance.ts';
import { parseOrder } from '../../../../lib/migration/runs/input.ts';
import { journalSchema } from '../../../../lib/migration/runs/journal.ts';
import { copy } from '../../../../lib/migration/steps/copy.ts';
import { runPreflight } from '../../../../lib/migration/steps/preflight.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { itInFull } from '../../../shared/support/quick-cases.ts';
import { readEvidence } from '../../support/holdings.ts';
import { type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { readUserCounts } from '../../support/user-counts.ts';

interface Forecast {
  readonly points: number;
  readonly users: number;
  readonly largest: readonly { readonly user: string; readonly points: number }[];
  readonly allUsers: { readonly artifact: string; readonly digest: string };
}

it('reports users and points, and writes no memory', async () => {
  const migration = await createMigrationAt('rebuilt', { users: 40 });
  const { vectors, artifacts } = migration.services;
  const result = await migration.invoke('copy', { execute: false });
  if (!result.dryRun) throw new Error('No dry run');
  const { points, users, largest, allUsers } = result.forecast as unknown as Forecast;
  expect([points, largest.length]).toEqual([60, 20]);
  const counts = await Array.fromAsync(readUserCounts(artifacts, allUsers));
  expect(users).toBeGreaterThan(20);
  expect(counts).toHaveLength(users);
  expect(counts).toEqual(expect.arrayContaining([...largest]));
  expect(counts).toContainEqual({ user: userDigest('user-1'), points: expect.any(Number) });
  expect(counts.reduce((sum, { points }) => sum + points, 0)).toBe(60);
  expect(await vectors.count(migration.target)).toBe(0);
  expect((await migration.runs.read(RUN)).phase).toBe('rebuilt');
});

const factsOf = async (migration: Migration) =>
  (await readEvidence(migration, 'verification-report')).facts;

describe('searches that differ', () => {
  const missHits = (migration: Migration) => ({
    vectors: {
      search: async (collection, request) => {
        const answer = await migration.services.vectors.search(collection, request);
        return collection === SOURCE ? answer : { ...answer, hits: answer.hits.slice(0, 5) };
      },
    } satisfies Partial<VectorStore>,
  });

  it('refuse the copy with their figures, until they are repaired', async () => {
    const migration = await createMigrationAt('rebuilt');
    const refused = migration.finish('copy', {}, missHits(migration));
    await expect(refused).rejects.toMatchObject({
      name: 'RefusedPrerequisites',
      data: { finding: 'search-parity' },
      why: expect.stringMatching(/of the ten nearest memories \d\d\.\d % are the same/),
    });
    await migration.finish('copy');
    const figures = { searched: 60, overlap: 1, firstInOld: 1, firstInNew: 1 };
    expect(await factsOf(migration)).toMatchObject(figures);
  });

  itInFull(
    'say for a quantised collection what was compared, and how to compare without quantisation',
    async () => {
      const migration = await createMigrationAt('rebuilt');
      const { vectors } = migration.services;
      const quantization_config = { scalar: { type: 'int8' } } as const;
      await vectors.updateCollection(SOURCE, { quantization_config });
      const refused = migration.finish('copy', {}, missHits(migration));
      await expect(refused).rejects.toMatchObject({
        name: 'RefusedPrerequisites',
        why: expect.stringMatching(/by quantised vectors.*"ignore": true/),
      });
    },
  );

  itInFull('no longer stop the copy once they are accepted', async () => {
    const migration = await createMigrationAt('rebuilt');
    await migration.finish('copy', { accepts: ['search-parity'] }, missHits(migration));
    const { facts, report } = await readEvidence(migration, 'verification-report');
    expect(facts.overlap).toBeLessThan(0.98);
    expect(report).toMatchObject({ overlap: facts.overlap });
  });
});

/** A clock that advances instead of waiting */
function createTime() {
  let at = 0;
  const sleep = async (milliseconds: number) => {
    at += milliseconds;
  };
  return { now: () => at, sleep };
}

it.each([
  ['a preflight', 'checked', { runId: RUN, sourceCollection: SOURCE }],
  ['a dry run', 'rebuilt', { runId: RUN }],
  ['a copy', 'rebuilt', { runId: RUN, execute: true }],
] as const)('%s reads at most the given number of points a second', async (_, point, input) => {
  const { services } = await createMigrationAt(point, { memories: 600 });
  const time = createTime();
  const payload = { ...input, maxRate: 100 };
  let isFilled = false;
  const saveCheckpoint: typeof services.runs.saveCheckpoint = async (lease, step, checkpoint) => {
    await services.runs.saveCheckpoint(lease, step, checkpoint);
    isFilled = 'filled' in v.parse(journalSchema, checkpoint.state).passed;
  };
  const watched = { ...services, runs: { ...services.runs, saveCheckpoint } };
  const timeLeftMs = () => (isFilled ? 0 : 600_000);
  if (point === 'checked') await runPreflight(services, payload, time);
  else await advance(copy, watched, { ...parseOrder('copy', payload), timeLeftMs, time });
  const limited = time.now();
  expect(limited / 1_000).toBeGreaterThanOrEqual(600 / 100);
  if (!('execute' in input)) return;
  // The copy asks both collections for whole pages, although the new one is still empty.
  expect(limited / 1_000).toBeLessThan((600 + 3 * 256) / 100);
  const unlimited = parseOrder('copy', { ...input, maxRate: 0 });
  await advance(copy, services, { ...unlimited, timeLeftMs: () => 600_000, time });
  expect(time.now()).toBe(limited);
});

itInFull(
  'measures its speed over the whole comparison, however few points the last invocation compares',
  async () => {
    const measureCopy = async (isInterrupted: boolean) => {
      const migration = await createMigrationAt('rebuilt', { memories: 260 });
      const { vectors, runs } = migration.services;
      let isFilled = false;
      let isCut = false;
      const scroll: VectorStore['scroll'] = async (...request) => {
        migration.advanceClock(1_000);
        const page = await vectors.scroll(...request);
        isCut ||= isInterrupted && isFilled && page.nextOffset === null;
        return page;
      };
      const saveCheckpoint: typeof runs.saveCheckpoint = async (lease, step, checkpoint) => {
        await runs.saveCheckpoint(lease, step, checkpoint);
        isFilled = 'filled' in v.parse(journalSchema, checkpoint.state).passed;
      };
      const changes = { vectors: { scroll }, runs: { saveCheckpoint } };
      await migration.invoke('copy', {}, changes, () => (isCut ? 0 : 600_000));
      const { phase } = await migration.runs.read(RUN);
      if (phase === 'rebuilt') await migration.finish('copy', {}, changes);
      return { phase, perSecond: Number((await factsOf(migration)).perSecond) };
    };
    const whole = await measureCopy(false);
    const resumed = await measureCopy(true);
    expect([whole.phase, resumed.phase]).toEqual(['copied', 'rebuilt']);
    // Each page takes a second: the comparison reads five, and those of the fill before it do not count.
    expect(whole.perSecond).toBe(260 / 5);
    // The resumed one reads the last page twice.
    expect(resumed.perSecond).toBeLessThan(whole.perSecond);
    expect(resumed.perSecond).toBeGreaterThan(whole.perSecond / 2);
  },
);
