// The deployed definition of the state machine, from the start to the cutover, and its rollback when something fails.
import { describe, expect, it } from 'vitest';
import { manualHooks } from '../../../lib/migration/adapters/webhook.ts';
import { REMEDIES, RETRYABLE_FAILURES } from '../../../lib/migration/refusals.ts';
import { testUserOf } from '../../../lib/migration/runs/run-names.ts';
import { POLL_SECONDS } from '../../../lib/migration/runs/times.ts';
import { readStatus } from '../../../lib/migration/steps/status.ts';
import type { EnteredState } from '../../../sandbox/rehearsal/state-machine.ts';
import { SOURCE } from '../../../sandbox/world.ts';
import { migrationMachine, type Retrier } from '../../../serverless/migration/machine.ts';
import { itInFull } from '../../shared/support/quick-cases.ts';
import { changeServices } from '../support/changed-services.ts';
import { computeFingerprint } from '../support/collections.ts';
import { createMigration, RUN } from '../support/migration.ts';
import { createMigrationAt } from '../support/prepared.ts';
import { LEASE_MS } from '../support/run-table.ts';
import { approveWhenAsked, execute } from '../support/state-machine.ts';

describe('the state machine', () => {
  it('carries a run from its start to the cutover, waiting for the person in between', async () => {
    const migration = await createMigration();
    const before = await computeFingerprint(migration.services.vectors, SOURCE);
    await migration.start();
    const { tasks, failure } = await execute(migration, { onTask: approveWhenAsked(migration) });
    expect(failure).toBeUndefined();
    const steps = tasks.filter((state, n) => state !== 'ReadStatus' && state !== tasks[n - 2]);
    expect(steps).toEqual(['Backup', 'Rebuild', 'Copy', 'Cutover']);
    expect((await migration.runs.read(RUN)).phase).toBe('live');
    expect(await migration.services.setting.read()).toBe(migration.target);
    expect(await computeFingerprint(migration.services.vectors, migration.target)).toEqual(before);
  });

  itInFull(
    'stops at a refusal before the window, and resumes there when started again',
    async () => {
      const migration = await createMigration();
      await migration.start();
      const encodesKeywords = async () => false;
      const services = changeServices(migration.services, { vectors: { encodesKeywords } });
      const { tasks, failure } = await execute(migration, { services });
      expect([tasks.at(-1), failure]).toEqual(['Copy', 'RefusedPrerequisites']);
      const resumed = await execute(migration, { onTask: approveWhenAsked(migration) });
      expect(resumed.failure).toBeUndefined();
    },
  );

  it('rolls back automatically when the window closes', async () => {
    const migration = await createMigration();
    await migration.start();
    const approve = approveWhenAsked(migration);
    const { failure } = await execute(migration, {
      onTask: async (state) => {
        await approve(state);
        if (state === 'Cutover') migration.advanceClock(31 * 60_000);
      },
    });
    expect(failure).toBe('RolledBack');
    expect(await migration.services.setting.read()).toBe(SOURCE);
  });
});

// Events that a state of each kind adds to the history of an execution, which ends at 25,000
const EVENTS = { Task: 5, Choice: 2, Wait: 2 };
const MAX_HISTORY_EVENTS = 25_000;
// Longest execution of a standard state machine
const EXECUTION_DAYS = 365;

function countEvents(type: string): number {
  if (type === 'Fail' || type === 'Succeed') return 2;
  return EVENTS[type as keyof typeof EVENTS];
}

// Longest waits for services: the slowest first snapshot, and a window of the default length
const SERVICE_MINUTES = 10 + 30;
// Longest wait for a person: the longest window that a plan may have
const PERSON_MINUTES = 240;

// Timeout of the functions in serverless/migration/functions.ts
const MAX_FUNCTION_SECONDS = 900;

function sumPauses(retrier: Retrier): number {
  const { IntervalSeconds, BackoffRate, MaxAttempts } = retrier;
  const pauses = Array.from({ length: MaxAttempts }, (_, n) => IntervalSeconds * BackoffRate ** n);
  return pauses.reduce((sum, pause) => sum + pause, 0);
}

describe('the definition', () => {
  const { States } = migrationMachine('test');
  const tasks = Object.entries(States).filter(([, { Type }]) => Type === 'Task');

  it('waits longer than the lease of a step that died, and than the longest invocation', () => {
    for (const [name, { Retry = [] }] of tasks) {
      const lockRetriers = Retry.filter((retrier) =>
        retrier.ErrorEquals.includes('RetryableLockHeld'),
      );
      // Jitter must be off, because it could draw only short pauses.
      expect(lockRetriers.map(({ JitterStrategy = 'NONE' }) => JitterStrategy)).toEqual(['NONE']);
      const longestSeconds = MAX_FUNCTION_SECONDS + LEASE_MS / 1_000;
      expect(lockRetriers.map(sumPauses)[0], name).toBeGreaterThanOrEqual(longestSeconds);
    }
  });

  const readSeconds = (state: string) => States[state]?.Seconds ?? 0;

  /** Waits through the longest window that a plan allows, while the person never does the action. */
  async function waitForPerson() {
    const migration = await createMigrationAt('copied', {}, { windowMinutes: PERSON_MINUTES });
    const services = { ...migration.services, hooks: manualHooks };
    await migration.invoke('cutover', {}, services);
    const start = migration.clock().getTime();
    const entered: EnteredState[] = [];
    const { failure } = await execute(migration, {
      services,
      passMs: 0,
      onTask: async () => {
        const { phase, pendingAction } = await migration.runs.read(RUN);
        if (phase !== 'switching-back' || !pendingAction) return;
        await migration.confirm(pendingAction.action);
      },
      onEntered: (state) => {
        entered.push(state);
        if (state.name === 'AwaitPerson') migration.advanceClock(readSeconds(state.name) * 1_000);
        if (state.name === 'Wait') migration.advanceClock(POLL_SECONDS * 1_000);
      },
    });
    const minutes = (migration.clock().getTime() - start) / 60_000;
    return { entered, failure, minutes };
  }

  itInFull(
    'has room in its history for a year of waiting for the approval and a window of four hours',
    async () => {
      const { entered, failure, minutes } = await waitForPerson();
      expect(failure).toBe('RolledBack');
      expect(minutes).toBeGreaterThanOrEqual(PERSON_MINUTES);
      expect(entered.map(({ name }) => name)).toContain('AwaitPerson');
      const personEvents = entered.reduce((sum, { type }) => sum + countEvents(type), 0);
      const eventsPerStatusRead = EVENTS.Task + EVENTS.Choice;
      const approvalEvents =
        EXECUTION_DAYS *
        (86_400 / readSeconds('AwaitApproval')) *
        (eventsPerStatusRead + EVENTS.Wait);
      const eventsPerPoll = eventsPerStatusRead + EVENTS.Task + EVENTS.Choice + EVENTS.Wait;
      const serviceEvents = ((SERVICE_MINUTES * 60) / POLL_SECONDS) * eventsPerPoll;
      expect(approvalEvents + serviceEvents + personEvents).toBeLessThan(MAX_HISTORY_EVENTS);
    },
  );

  it('does not wait for a person who has confirmed', async () => {
    const migration = await createMigrationAt('copied');
    const services = { ...migration.services, hooks: manualHooks };
    await migration.invoke('cutover', {}, services);
    const paused: string[] = [];
    let statusReads = 0;
    const stop = new AbortController();
    await execute(migration, {
      services,
      signal: stop.signal,
      onTask: async (state) => {
        if (state !== 'ReadStatus') return;
        statusReads += 1;
        if (statusReads === 6) stop.abort();
        if (statusReads !== 3) return;
        const { pendingAction: pending } = await migration.runs.read(RUN);
        if (pending?.action !== 'freeze') throw new Error('No freeze is requested');
        const request = { ...pending, runId: RUN, occasion: '', deadlineAt: undefined };
        await migration.operator.hooks.ask({ ...request, testUser: testUserOf(RUN) });
        await migration.confirm('freeze');
      },
      onEntered: ({ name }) => void (/Wait|Await/.test(name) && paused.push(name)),
    });
    expect(paused.slice(0, 4)).toEqual(['AwaitPerson', 'AwaitPerson', 'Wait', 'Wait']);
  });

  it('reads only fields that the status has', async () => {
    const migration = await createMigrationAt('copied');
    await migration.invoke('cutover', {}, { ...migration.services, hooks: manualHooks });
    const status = JSON.parse(JSON.stringify(await readStatus(migration.services)));
    const paths = JSON.stringify(States).matchAll(/\$\.status\.([\w.[\]]+)/g);
    const fields = new Set([...paths].map(([, path = '']) => path));
    expect(fields.size).toBeGreaterThan(1);
    for (const path of fields) expect(status).toHaveProperty(path);
  });

  it('has a time limit on every task, and retries nothing that was refused', () => {
    for (const [name, { TimeoutSeconds, Retry = [] }] of tasks) {
      expect(TimeoutSeconds, name).toBeGreaterThan(0);
      const retried = Retry.flatMap(({ ErrorEquals }) => ErrorEquals);
      expect(retried, name).toEqual(expect.arrayContaining([...RETRYABLE_FAILURES]));
      expect(retried.filter((error) => error in REMEDIES)).toEqual([]);
      expect(retried.filter((error) => error.startsWith('Retryable')).toSorted()).toEqual(
        [...RETRYABLE_FAILURES].toSorted(),
      );
    }
  });

  it('rolls back if the step of the window never answers', () => {
    const caught = tasks.filter(([, { Catch = [] }]) =>
      Catch.some(({ Next }) => Next === 'RollBack'),
    );
    expect(caught.map(([name]) => name)).toEqual(['Cutover']);
  });
});
