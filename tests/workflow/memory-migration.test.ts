// The state machine as it is deployed, from the start to the cutover, and back by itself when something fails.
import { describe, expect, it } from 'vitest';
import { PHASES } from '../../lib/migration/phases.ts';
import { REMEDIES, RETRYABLE_FAILURES, RetryableFailure } from '../../lib/migration/refusals.ts';
import { POLL_SECONDS } from '../../lib/migration/runs/durations.ts';
import { fingerprintOf } from '../../lib/migration/scan.ts';
import type { Retrier } from '../../local/rehearsal/state-machine.ts';
import { SOURCE } from '../../local/sandbox/world.ts';
import { createMigration, type Migration, RUN } from '../support/migration/migration.ts';
import { LEASE_MS } from '../support/migration/run-table.ts';
import { approving, execute, readDefinition } from '../support/migration/state-machine.ts';

describe('the state machine', () => {
  it('carries a run from its start to the cutover, waiting for the person in between', async () => {
    const migration = await createMigration();
    const before = await fingerprintOf(migration.services.vectors, SOURCE);
    await migration.start();
    const { tasks, failure } = await execute(migration, { onTask: approving(migration) });
    expect(failure).toBeUndefined();
    const steps = tasks.filter((state, n) => state !== 'Look' && state !== tasks[n - 2]);
    expect(steps).toEqual([
      'Preflight',
      'Backup',
      'Rebuild',
      'Copy',
      'Verify',
      'Freeze',
      'SecureInWindow',
      'CatchUp',
      'Cutover',
    ]);
    expect((await migration.runs.read(RUN)).phase).toBe('live');
    expect(await migration.services.setting.read()).toBe(migration.target);
    expect(await fingerprintOf(migration.services.vectors, migration.target)).toEqual(before);
  });

  it('carries a run through that uploads the new collection under another name', async () => {
    const migration = await createMigration();
    const { vectors, setting } = migration.services;
    const before = await fingerprintOf(vectors, SOURCE);
    const uploadAs = 'memories_of_2026';
    await migration.start({ uploadAs });
    const { failure } = await execute(migration, { onTask: approving(migration) });
    expect(failure).toBeUndefined();
    expect((await migration.runs.read(RUN)).phase).toBe('live');
    expect(await setting.read()).toBe(uploadAs);
    expect(await fingerprintOf(vectors, uploadAs)).toEqual(before);
    expect(await fingerprintOf(vectors, SOURCE)).toEqual(before);
    await vectors.deleteCollection(SOURCE);
    await migration.finish('rollback');
    expect(await fingerprintOf(vectors, await setting.read())).toEqual(before);
  });

  it('goes back by itself from an upload that fails, and leaves nothing of it', async () => {
    const migration = await createMigration();
    const { vectors } = migration.services;
    const uploadAs = 'memories_of_2026';
    await migration.start({ uploadAs });
    const uploadSnapshot: typeof vectors.uploadSnapshot = async (name, upload) => {
      await vectors.uploadSnapshot(name, upload);
      if (name === uploadAs) throw new Error('The store ran out of something');
    };
    const services = { ...migration.services, vectors: { ...vectors, uploadSnapshot } };
    const { failure } = await execute(migration, { services, onTask: approving(migration) });
    expect(failure).toBe('WentBack');
    expect(await vectors.listCollections()).not.toContain(uploadAs);
    expect(await migration.services.setting.read()).toBe(SOURCE);
  });

  it('stops at a refusal before the window, and goes on from there when started again', async () => {
    const migration = await createMigration();
    await migration.start();
    const { vectors } = migration.services;
    await vectors.createCollection(`${SOURCE}_v3_old`, {
      vectors: { size: 8, distance: 'Cosine' },
    });
    expect(await execute(migration)).toEqual({
      tasks: ['Look', 'Preflight'],
      failure: 'RefusedPrerequisites',
    });
    await vectors.deleteCollection(`${SOURCE}_v3_old`);
    const again = await execute(migration, { onTask: approving(migration) });
    expect(again.failure).toBeUndefined();
  });

  it.each([
    ['a count that differs', 'Cutover', deletePoint],
    ['a source that somebody has written to', 'Cutover', deleteFromSource],
    ['a setting that somebody else has changed', 'Cutover', changeSetting],
  ] as const)('goes back by itself for %s', async (_, when, breakIt) => {
    const migration = await createMigration();
    await migration.start();
    const approve = approving(migration);
    let isBroken = false;
    const { tasks, failure } = await execute(migration, {
      onTask: async (state) => {
        await approve(state);
        if (state === when && !isBroken) {
          isBroken = true;
          await breakIt(migration);
        }
      },
    });
    expect(failure).toBe('WentBack');
    expect(tasks).toContain('GoBack');
    expect((await migration.runs.read(RUN)).phase).toBe('returned');
    expect(migration.operator.heard.at(-1)).toBe('open-writes');
  });

  it('goes back by itself when the window closes', async () => {
    const migration = await createMigration();
    await migration.start();
    const approve = approving(migration);
    const { failure } = await execute(migration, {
      onTask: async (state) => {
        await approve(state);
        if (state === 'CatchUp') migration.pass(31 * 60_000);
      },
    });
    expect(failure).toBe('WentBack');
    expect(await migration.services.setting.read()).toBe(SOURCE);
  });

  it('tries again what was only out of reach', async () => {
    const migration = await createMigration();
    await migration.start();
    const { backend } = migration.services;
    let calls = 0;
    const health = async () => {
      calls += 1;
      if (calls < 3) throw new RetryableFailure('RetryableUnavailable', 'Not yet.');
      await backend.health();
    };
    const { tasks, failure } = await execute(migration, {
      services: { ...migration.services, backend: { ...backend, health } },
      onTask: approving(migration),
    });
    expect(failure).toBeUndefined();
    expect(tasks.filter((state) => state === 'Preflight')).toHaveLength(3);
  });

  it.each(['Copy', 'CatchUp'])('outwaits the lease of a %s that died', async (dying) => {
    const migration = await createMigration();
    await migration.start();
    const approve = approving(migration);
    let hasDied = false;
    const { tasks, failure } = await execute(migration, {
      onTask: async (state) => {
        await approve(state);
        if (state !== dying || hasDied) return;
        hasDied = true;
        await migration.lock.take(RUN);
        throw Object.assign(new Error('Task timed out'), { name: 'Sandbox.Timedout' });
      },
    });
    expect(failure).toBeUndefined();
    // The clock is turned by five seconds a task.
    const meanwhile = tasks.filter((state) => state === dying).length;
    expect(meanwhile).toBeGreaterThanOrEqual(LEASE_MS / 5_000);
  });
});

// What a state of each kind writes into the history of an execution, which ends at 25,000.
const EVENTS = { Task: 5, Choice: 2, Wait: 2 };
const LONGEST_HISTORY = 25_000;
// Of waiting for services: the first snapshot at its slowest, and a window of the default length.
const SERVICE_MINUTES = 10 + 30;
// Of waiting for a person: the longest window that a plan may have.
const PERSON_MINUTES = 240;

// serverless/migration.js
const LONGEST_FUNCTION_SECONDS = 900;

function waitedSeconds(retrier: Retrier): number {
  const { IntervalSeconds = 1, BackoffRate = 2, MaxAttempts = 3 } = retrier;
  const pauses = Array.from({ length: MaxAttempts }, (_, n) => IntervalSeconds * BackoffRate ** n);
  return pauses.reduce((sum, pause) => sum + pause, 0);
}

async function deletePoint({ services, target }: Migration): Promise<void> {
  const { points } = await services.vectors.scroll(target, { limit: 1 });
  await services.vectors.deletePoints(target, { ids: points.map(({ id }) => id) });
}

async function deleteFromSource({ services }: Migration): Promise<void> {
  const { points } = await services.vectors.scroll(SOURCE, { limit: 1 });
  await services.vectors.deletePoints(SOURCE, { ids: points.map(({ id }) => id) });
}

async function changeSetting({ services }: Migration): Promise<void> {
  await services.setting.change({ from: SOURCE, to: 'elsewhere' });
}

describe('the definition', () => {
  const { States } = readDefinition();
  const tasks = Object.entries(States).filter(([, { Type }]) => Type === 'Task');

  it('outwaits a step that died, and one that is at work for as long as a function may be', () => {
    for (const [name, { Retry = [] }] of tasks) {
      const running = Retry.filter((retrier) => retrier.ErrorEquals.includes('RetryableLockHeld'));
      // Without jitter, which might draw nothing but short pauses.
      expect(running.map(({ JitterStrategy = 'NONE' }) => JitterStrategy)).toEqual(['NONE']);
      const longest = LONGEST_FUNCTION_SECONDS + LEASE_MS / 1_000;
      expect(running.map(waitedSeconds)[0], name).toBeGreaterThanOrEqual(longest);
    }
  });

  it('has room in its history for days of waiting for the approval and a window of four hours', () => {
    const seconds = (state: string) => States[state]?.Seconds ?? 0;
    const perLook = EVENTS.Task + EVENTS.Choice;
    const forApproval = 5 * (86_400 / seconds('AwaitApproval')) * (perLook + EVENTS.Wait);
    const perPoll = perLook + EVENTS.Task + EVENTS.Choice + EVENTS.Wait;
    const polls =
      (SERVICE_MINUTES * 60) / POLL_SECONDS + (PERSON_MINUTES * 60) / seconds('AwaitPerson');
    expect(forApproval + polls * perPoll).toBeLessThan(LONGEST_HISTORY);
  });

  it('waits longer for a person than for a service', async () => {
    const { Pause } = States as unknown as Record<string, { Choices: { Next: string }[] }>;
    expect(Pause?.Choices.map(({ Next }) => Next)).toEqual(['AwaitPerson', 'Wait']);
  });

  it('has a deadline on every task, and retries nothing that was refused', () => {
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

  it('leads back from every step inside the window', () => {
    const caught = tasks.filter(([, { Catch = [] }]) =>
      Catch.some(({ Next }) => Next === 'GoBack'),
    );
    expect(caught.map(([name]) => name)).toEqual([
      'Freeze',
      'SecureInWindow',
      'CatchUp',
      'Cutover',
    ]);
  });

  it('knows every phase of a run that was started', () => {
    const text = JSON.stringify(States);
    for (const phase of PHASES.filter((phase) => phase !== 'absent')) {
      expect(text).toContain(`"StringEquals":"${phase}"`);
    }
  });
});
