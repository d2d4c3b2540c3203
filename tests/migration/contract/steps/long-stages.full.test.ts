// A stage that takes longer than a lease keeps its lock. A step that was suspended for that long has lost the lock, and makes
// no further change.
import { describe, expect, it } from 'vitest';
import { windowOf } from '../../../../lib/migration/runs/run.ts';
import type { Services } from '../../../../lib/migration/services.ts';
import { keepWatch } from '../../../../lib/migration/steps/watch.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import type { ServiceChanges } from '../../support/changed-services.ts';
import { type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';
import { LEASE_MS } from '../../support/run-table.ts';

/** Slows down one call of a step, or the rows of a stream */
type Slowdown = (services: Services, wait: () => Promise<void>) => ServiceChanges;

const slowScroll: Slowdown = ({ vectors }, wait) => ({
  vectors: {
    scroll: async (...args) => {
      await wait();
      return await vectors.scroll(...args);
    },
  },
});

const slowGraph: Slowdown = ({ graph }, wait) => ({
  graph: {
    async *streamNodes() {
      await wait();
      yield* graph?.streamNodes() ?? [];
    },
  },
});

describe('a stage that takes longer than a lease', () => {
  it.each([
    ['the dump of the graph', 'backup', 'checked', slowGraph],
    ['the comparison', 'copy', 'copied', slowScroll],
  ] as const)('keeps its lease: %s', async (_, step, milestone, slowDown) => {
    const migration = await createMigrationAt(milestone);
    let refusals = 0;
    const wait = async () => {
      for (let beats = 0; beats < 6; beats += 1) {
        migration.advanceClock(LEASE_MS / 4);
        await migration.beat();
      }
      await expect(migration.lock.take(RUN)).rejects.toEqual(failureNamed('RetryableLockHeld'));
      refusals += 1;
    };
    await migration.finish(step, {}, slowDown(migration.services, wait));
    expect(refusals).toBeGreaterThan(0);
    expect(migration.beatIntervals()).toEqual([]);
    await migration.lock.take(RUN);
  });
});

describe('a lock that cannot be released', () => {
  it.each([
    ['a success', {}, { done: true }],
    ['a failure', { encodesKeywords: async () => false }, { name: 'RefusedPrerequisites' }],
  ])('does not hide the outcome of the step: %s', async (_, vectors, expected) => {
    const migration = await createMigrationAt('copied');
    const release = () => Promise.reject(new Error('No table'));
    const outcome = await migration
      .invoke('copy', {}, { lock: { release }, vectors })
      .catch((error: unknown) => error);
    expect(outcome).toMatchObject(expected);
    expect(migration.logged).toMatchObject([{ level: 'WARN', runId: RUN, why: 'Error: No table' }]);
    migration.advanceClock(LEASE_MS);
    await migration.lock.take(RUN);
  });
});

describe('a stage that is running when the window closes', () => {
  const WINDOW_MS = 30 * 60_000;

  async function closeWindow(migration: Migration): Promise<void> {
    migration.advanceClock(WINDOW_MS);
    await migration.beat();
  }

  it('stops renewing its lease, and the watch rolls back once the lease has expired', async () => {
    const migration = await createMigrationAt('frozen');
    const results: unknown[] = [];
    const watch = async () => await keepWatch(migration.services).then(readPhase, readName);
    const closing = slowGraph(migration.services, async () => {
      const { deadlineAt } = windowOf(await migration.runs.read(RUN));
      migration.advanceClock(deadlineAt - migration.clock().getTime() - LEASE_MS / 4);
      await migration.beat();
      for (let beats = 0; beats < 5; beats += 1) {
        migration.advanceClock(LEASE_MS / 4);
        await migration.beat();
        results.push(await watch());
      }
    });
    const attempt = migration.finish('cutover', {}, closing);
    await expect(attempt).rejects.toEqual(failureNamed('RefusedNotNow', 'The window closed at'));
    expect(results).toEqual([undefined, undefined, undefined, 'copied', undefined]);
    const warnings = migration.logged.filter(({ failure }) => failure === 'RetryableLockHeld');
    expect(warnings).toHaveLength(3);
    expect(migration.operator.actions.at(-1)).toBe('open-writes');
  });

  it('does not open writes, even if that was its next action', async () => {
    const migration = await createMigrationAt('equal');
    const { setting, hooks } = migration.services;
    let isOpening = false;
    const ask: typeof hooks.ask = async (request) => {
      isOpening = request.action === 'open-writes';
      return isOpening ? 'under-way' : await hooks.ask(request);
    };
    const change: typeof setting.change = async (names) => {
      await setting.change(names);
      if (isOpening) await closeWindow(migration);
    };
    const pausedOpening = { hooks: { ask }, setting: { change } };
    expect(await migration.invoke('cutover', {}, pausedOpening)).toMatchObject({ done: false });
    migration.operator.actions.length = 0;
    const attempt = migration.invoke('cutover', {}, { setting: { change } });
    await expect(attempt).rejects.toEqual(failureNamed('RefusedNotNow', 'The window closed at'));
    expect(migration.operator.actions).toEqual([]);
  });

  it('continues if it belongs to a rollback', async () => {
    const migration = await createMigrationAt('equal');
    await migration.invoke('cutover', {}, { hooks: { ask: async () => 'under-way' } });
    let beats = 0;
    const slowHooks: ServiceChanges = {
      hooks: {
        ask: async (request) => {
          migration.advanceClock(WINDOW_MS);
          await migration.beat();
          beats += 1;
          return await migration.services.hooks.ask(request);
        },
      },
    };
    await migration.finish('rollback', {}, slowHooks);
    expect(beats).toBeGreaterThan(0);
    expect((await migration.runs.read(RUN)).phase).toBe('copied');
  });
});

function readPhase(result: Awaited<ReturnType<typeof keepWatch>>): unknown {
  return result && !result.dryRun ? result.phase : undefined;
}

function readName(error: Error): string {
  return error.name;
}

describe('a step that was suspended for as long as a lease', () => {
  it('aborts its upload, and deletes no collection of its successor', async () => {
    const migration = await createMigrationAt('checked');
    const { vectors } = migration.services;
    const deletedCollections: string[] = [];
    const changed: ServiceChanges = {
      vectors: {
        uploadSnapshot: async (collection, upload) => {
          // Another invocation takes the lock. The first one wakes, and its next heartbeat finds the lock lost.
          migration.advanceClock(LEASE_MS);
          await migration.lock.take(RUN);
          await migration.beat();
          deletedCollections.length = 0;
          await vectors.uploadSnapshot(collection, upload);
        },
        deleteCollection: async (collection) => {
          deletedCollections.push(collection);
          return await vectors.deleteCollection(collection);
        },
      },
    };
    const attempt = migration.finish('backup', {}, changed);
    await expect(attempt).rejects.toEqual(failureNamed('RefusedLockLost'));
    expect(await vectors.listCollections()).toEqual([SOURCE]);
    expect(deletedCollections).toEqual([]);
  });
});
