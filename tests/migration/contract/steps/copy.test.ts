// The copy: its dry run, its comparison of searches, and its speed
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { VectorStore } from '../../../../lib/migration/adapters/qdrant.ts';
import { digestUser } from '../../../../lib/migration/points.ts';
import { advance } from '../../../../lib/migration/runs/advance.ts';
import { parseStepCall } from '../../../../lib/migration/runs/input.ts';
import { journalSchema } from '../../../../lib/migration/runs/journal.ts';
import { copy } from '../../../../lib/migration/steps/copy.ts';
import { runPreflight } from '../../../../lib/migration/steps/preflight.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { itInFull } from '../../../shared/support/quick-cases.ts';
import { readEvidence } from '../../support/collections.ts';
import { type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { readUserCounts } from '../../support/user-counts.ts';

interface Forecast {
  readonly points: number;
  readonly users: number;
  readonly largest: readonly { readonly user: string; readonly points: number }[];
  readonly allUsers: { readonly artifact: string; readonly digest: string };
}

it('a dry run of the copy reports users and points, and writes no memory', async () => {
  const migration = await createMigrationAt('rebuilt', { users: 40 });
  const { vectors, artifacts } = migration.services;
  const result = await migration.invoke('copy', { execute: false });
  if (!result.dryRun) throw new Error('The copy was not a dry run');
  const { points, users, largest, allUsers } = result.forecast as unknown as Forecast;
  expect([points, largest.length]).toEqual([60, 20]);
  const counts = await Array.fromAsync(readUserCounts(artifacts, allUsers));
  expect(users).toBeGreaterThan(20);
  expect(counts).toHaveLength(users);
  expect(counts).toEqual(expect.arrayContaining([...largest]));
  expect(counts).toContainEqual({ user: digestUser('user-1'), points: expect.any(Number) });
  expect(counts.reduce((sum, { points }) => sum + points, 0)).toBe(60);
  expect(await vectors.count(migration.target)).toBe(0);
  expect((await migration.runs.read(RUN)).phase).toBe('rebuilt');
});

const readFacts = async (migration: Migration) =>
  (await readEvidence(migration, 'verification-report')).facts;

describe('a copy whose searches differ', () => {
  /** Makes searches in the new collection return only five hits. */
  const loseHits = (migration: Migration) => ({
    vectors: {
      search: async (collection, request) => {
        const response = await migration.services.vectors.search(collection, request);
        return collection === SOURCE ? response : { ...response, hits: response.hits.slice(0, 5) };
      },
    } satisfies Partial<VectorStore>,
  });

  it('is refused with the figures, and succeeds once the searches agree', async () => {
    const migration = await createMigrationAt('rebuilt');
    const attempt = migration.finish('copy', {}, loseHits(migration));
    await expect(attempt).rejects.toMatchObject({
      name: 'RefusedPrerequisites',
      data: { finding: 'search-parity' },
      why: expect.stringMatching(/of the ten nearest memories \d\d\.\d % are the same/),
    });
    await migration.finish('copy');
    const figures = { searched: 60, overlap: 1, firstInOld: 1, firstInNew: 1 };
    expect(await readFacts(migration)).toMatchObject(figures);
  });

  itInFull(
    'is refused with a hint to compare without quantisation if the collection is quantised',
    async () => {
      const migration = await createMigrationAt('rebuilt');
      const { vectors } = migration.services;
      const quantization_config = { scalar: { type: 'int8' } } as const;
      await vectors.updateCollection(SOURCE, { quantization_config });
      const attempt = migration.finish('copy', {}, loseHits(migration));
      await expect(attempt).rejects.toMatchObject({
        name: 'RefusedPrerequisites',
        why: expect.stringMatching(/by quantised vectors.*"ignore": true/),
      });
    },
  );

  itInFull('succeeds if the operator accepts the difference', async () => {
    const migration = await createMigrationAt('rebuilt');
    await migration.finish('copy', { accepts: ['search-parity'] }, loseHits(migration));
    const { facts, report } = await readEvidence(migration, 'verification-report');
    expect(facts.overlap).toBeLessThan(0.98);
    expect(report).toMatchObject({ overlap: facts.overlap });
  });
});

/** Creates a clock that advances only when it sleeps. */
function createClock() {
  let nowMs = 0;
  const sleep = async (milliseconds: number) => {
    nowMs += milliseconds;
  };
  return { now: () => nowMs, sleep };
}

it.each([
  ['a preflight', 'checked', { runId: RUN, sourceCollection: SOURCE }],
  ['a dry run', 'rebuilt', { runId: RUN }],
  ['a copy', 'rebuilt', { runId: RUN, execute: true }],
] as const)('%s reads at most `maxRate` points per second', async (_, milestone, input) => {
  const { services } = await createMigrationAt(milestone, { memories: 600 });
  const time = createClock();
  const payload = { ...input, maxRate: 100 };
  let isFilled = false;
  const saveCheckpoint: typeof services.runs.saveCheckpoint = async (lease, step, checkpoint) => {
    await services.runs.saveCheckpoint(lease, step, checkpoint);
    isFilled = 'filled' in v.parse(journalSchema, checkpoint.state).passed;
  };
  const changedServices = { ...services, runs: { ...services.runs, saveCheckpoint } };
  const timeLeftMs = () => (isFilled ? 0 : 600_000);
  if (milestone === 'checked') await runPreflight(services, payload, time);
  else
    await advance(copy, changedServices, { ...parseStepCall('copy', payload), timeLeftMs, time });
  const limitedMs = time.now();
  expect(limitedMs / 1_000).toBeGreaterThanOrEqual(600 / 100);
  if (!('execute' in input)) return;
  // The copy asks both collections for whole pages, although the new one is still empty.
  expect(limitedMs / 1_000).toBeLessThan((600 + 3 * 256) / 100);
  const unlimited = parseStepCall('copy', { ...input, maxRate: 0 });
  await advance(copy, services, { ...unlimited, timeLeftMs: () => 600_000, time });
  expect(time.now()).toBe(limitedMs);
});

itInFull(
  'a copy measures its speed over the whole comparison, not over its last invocation alone',
  async () => {
    const measureCopy = async (isInterrupted: boolean) => {
      const migration = await createMigrationAt('rebuilt', { memories: 260 });
      const { vectors, runs } = migration.services;
      let isFilled = false;
      let isTimeUp = false;
      const scroll: VectorStore['scroll'] = async (...request) => {
        migration.advanceClock(1_000);
        const page = await vectors.scroll(...request);
        isTimeUp ||= isInterrupted && isFilled && page.nextOffset === null;
        return page;
      };
      const saveCheckpoint: typeof runs.saveCheckpoint = async (lease, step, checkpoint) => {
        await runs.saveCheckpoint(lease, step, checkpoint);
        isFilled = 'filled' in v.parse(journalSchema, checkpoint.state).passed;
      };
      const changes = { vectors: { scroll }, runs: { saveCheckpoint } };
      await migration.invoke('copy', {}, changes, () => (isTimeUp ? 0 : 600_000));
      const { phase } = await migration.runs.read(RUN);
      if (phase === 'rebuilt') await migration.finish('copy', {}, changes);
      return { phase, perSecond: Number((await readFacts(migration)).perSecond) };
    };
    const uninterrupted = await measureCopy(false);
    const interrupted = await measureCopy(true);
    expect([uninterrupted.phase, interrupted.phase]).toEqual(['copied', 'rebuilt']);
    // Each page takes a second, and the comparison reads five. The pages that the copy read to fill the collection do not count.
    expect(uninterrupted.perSecond).toBe(260 / 5);
    // The interrupted copy reads the last page twice.
    expect(interrupted.perSecond).toBeLessThan(uninterrupted.perSecond);
    expect(interrupted.perSecond).toBeGreaterThan(uninterrupted.perSecond / 2);
  },
);
