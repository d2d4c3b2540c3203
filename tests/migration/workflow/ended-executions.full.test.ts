// If the execution ends inside the window for any reason, the watch rolls the run back when the window closes. No failure of
// the state machine leaves writes frozen, not even a failure that the machine cannot catch.
import { describe, expect, it } from 'vitest';
import type { Phase } from '../../../lib/migration/phases.ts';
import type { Hooks } from '../../../lib/migration/ports/hooks.ts';
import { Refusal } from '../../../lib/migration/refusals.ts';
import type { Services } from '../../../lib/migration/services.ts';
import { keepWatch } from '../../../lib/migration/steps/watch.ts';
import { SOURCE } from '../../../sandbox/world.ts';
import { computeFingerprint } from '../support/collections.ts';
import { createMigration, type Migration, RUN } from '../support/migration.ts';
import { approveWhenAsked, execute } from '../support/state-machine.ts';

/** Hooks that take a moment for each action, so that a test can observe every phase */
function createSlowHooks({ hooks }: Services, refuses?: string): Hooks {
  const requested = new Set<string>();
  return {
    async ask(request) {
      const { action, occasion } = request;
      if (action === refuses) throw new Refusal('RefusedByService', `It refuses ${action}.`);
      const name = `${occasion} ${action}`;
      if (requested.has(name)) return await hooks.ask(request);
      requested.add(name);
      return 'under-way';
    },
  };
}

async function startMigration() {
  const migration = await createMigration();
  await migration.start();
  const before = await computeFingerprint(migration.services.vectors, SOURCE);
  return { migration, before };
}

async function readPhase({ runs }: Migration): Promise<Phase> {
  return (await runs.read(RUN)).phase;
}

/** Runs the watch, which alone can still roll the run back, until it has done so. */
async function watchUntilRolledBack(migration: Migration): Promise<void> {
  migration.advanceClock((await migration.runs.read(RUN)).plan.windowMinutes * 60_000);
  for (;;) {
    const result = await keepWatch(migration.services);
    if (result === undefined || result.dryRun || result.done) return;
    migration.advanceClock(120_000);
  }
}

async function expectRolledBack(migration: Migration, before: object): Promise<void> {
  expect(await readPhase(migration)).toBe('copied');
  expect(migration.operator.actions.at(-1)).toBe('open-writes');
  expect(await migration.services.setting.read()).toBe(SOURCE);
  expect(await computeFingerprint(migration.services.vectors, SOURCE)).toEqual(before);
}

describe('an execution that is stopped', () => {
  it.each(['switching', 'switching-back'] as const)(
    'while the run is %s is rolled back by the watch',
    async (phase) => {
      const { migration, before } = await startMigration();
      const { services } = migration;
      const hooks = createSlowHooks(
        services,
        phase === 'switching-back' ? 'deploy-new' : undefined,
      );
      const approve = approveWhenAsked(migration);
      const stop = new AbortController();
      const { failure } = await execute(migration, {
        services: { ...services, hooks },
        signal: stop.signal,
        onTask: async (state) => {
          await approve(state);
          if (state === 'ReadStatus' && (await readPhase(migration)) === phase) stop.abort();
          stop.signal.throwIfAborted();
        },
      });
      expect(failure).toBe('ExecutionAbortedError');
      expect(await readPhase(migration)).toBe(phase);
      await watchUntilRolledBack(migration);
      await expectRolledBack(migration, before);
    },
  );
});

/** Creates an error that Step Functions does not catch under any name, not even States.ALL */
function createUncatchableError(name: string): Error {
  return Object.assign(new Error(name), { name, isRetryable: false, isCatchable: false });
}

describe('an execution that fails by itself', () => {
  it.each([
    ['States.Runtime', 'Cutover'],
    ['States.DataLimitExceeded', 'Cutover'],
    ['States.DataLimitExceeded', 'ReadStatus'],
  ])('with %s in %s is rolled back by the watch', async (name, failing) => {
    const { migration, before } = await startMigration();
    const approve = approveWhenAsked(migration);
    const { failure } = await execute(migration, {
      onTask: async (state) => {
        await approve(state);
        const isFrozen = (await migration.runs.read(RUN)).window !== undefined;
        if (isFrozen && state === failing) throw createUncatchableError(name);
      },
    });
    expect(failure).toBe(name);
    expect(await readPhase(migration)).toBe('switching');
    await watchUntilRolledBack(migration);
    await expectRolledBack(migration, before);
  });

  it('because a newer program moved the run to an unknown phase is rolled back by the watch', async () => {
    const { migration, before } = await startMigration();
    const { runs } = migration.services;
    const approve = approveWhenAsked(migration);
    let isReadingStatus = false;
    const read: typeof runs.read = async (runId) => {
      const run = await runs.read(runId);
      const isUnknown = isReadingStatus && run.phase === 'switching';
      return isUnknown ? { ...run, phase: 'unknown-phase' as Phase } : run;
    };
    const { failure } = await execute(migration, {
      services: { ...migration.services, runs: { ...runs, read } },
      onTask: async (state) => {
        await approve(state);
        isReadingStatus = state === 'ReadStatus';
      },
    });
    expect(failure).toBe('UnknownPhase');
    await watchUntilRolledBack(migration);
    await expectRolledBack(migration, before);
  });

  it('because the webhook refuses to open writes is rolled back by the watch', async () => {
    const { migration, before } = await startMigration();
    const { services } = migration;
    const approve = approveWhenAsked(migration);
    const { tasks, failure } = await execute(migration, {
      services: { ...services, hooks: createSlowHooks(services, 'open-writes') },
      onTask: approve,
    });
    expect(tasks.at(-1)).toBe('RollBack');
    expect(failure).toBe('RefusedByService');
    await watchUntilRolledBack(migration);
    await expectRolledBack(migration, before);
  });
});
