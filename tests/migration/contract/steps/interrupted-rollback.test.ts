// A rollback that is killed between two records, or whose record cannot be read, loses nothing, repeats the request for an action
// that was not done, and opens writes in time.
import { describe, expect, it } from 'vitest';
import type { ExternalAction } from '../../../../lib/migration/phases.ts';
import type { HookOutcome } from '../../../../lib/migration/ports/hooks.ts';
import type { Point } from '../../../../lib/migration/ports/vector-store.ts';
import { RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { advance } from '../../../../lib/migration/runs/advance.ts';
import { type RecordedJournal, readJournal } from '../../../../lib/migration/runs/journal.ts';
import { filterTestUser } from '../../../../lib/migration/runs/run-names.ts';
import type { Services } from '../../../../lib/migration/services.ts';
import { rollback } from '../../../../lib/migration/steps/rollback.ts';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { keepWatch } from '../../../../lib/migration/steps/watch.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { itInFull } from '../../../shared/support/quick-cases.ts';
import { changeServices, onRequest, type ServiceChanges } from '../../support/changed-services.ts';
import { computeFingerprint, writeToNew } from '../../support/collections.ts';
import { createServicesKilledBefore, Killed } from '../../support/killable-services.ts';
import { type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';

const MINUTE_MS = 60_000;

const createLive = () => createMigrationAt('live');

const readPhase = async ({ runs }: Migration) => (await runs.read(RUN)).phase;

const silentBackend: ServiceChanges = {
  backend: {
    health: () =>
      Promise.reject(new RetryableFailure('RetryableUnavailable', 'The backend does not answer.')),
  },
};

/** Lets the webhook report the old version as deployed, without deploying it. */
const reportUndoneDeployment = (migration: Migration) =>
  onRequest(migration, 'deploy-old', () => 'done');

/** Returns the services of a process that is killed right before it requests the action. */
function killBeforeRequest(migration: Migration, action: ExternalAction): Services {
  let isDead = false;
  const { hooks } = onRequest(migration, action, () => {
    isDead = true;
    throw new Killed();
  });
  return createServicesKilledBefore({ ...migration.services, hooks }, () => isDead);
}

/** Returns the services of a process that is killed right after the first record that `isLast` accepts. */
function killAfter(services: Services, isLast: (state: RecordedJournal) => boolean): Services {
  let isDead = false;
  const saveCheckpoint: Services['runs']['saveCheckpoint'] = async (lease, step, checkpoint) => {
    await services.runs.saveCheckpoint(lease, step, checkpoint);
    if (!isLast(checkpoint.state as RecordedJournal)) return;
    isDead = true;
    throw new Killed();
  };
  return createServicesKilledBefore(
    { ...services, runs: { ...services.runs, saveCheckpoint } },
    () => isDead,
  );
}

/** Replaces the rollback's record when it is read for the first time. */
function withRecord({ runs }: Migration, state: unknown): ServiceChanges {
  let isDue = true;
  const readCheckpoint: typeof runs.readCheckpoint = async (runId, step) => {
    const checkpoint = await runs.readCheckpoint(runId, step);
    if (step !== 'rollback' || !isDue || !checkpoint) return checkpoint;
    isDue = false;
    return { ...checkpoint, state };
  };
  return { runs: { readCheckpoint } };
}

describe('the request for a deployment', () => {
  const runUntilKilled = async (migration: Migration) => {
    const services = killBeforeRequest(migration, 'deploy-old');
    await expect(migration.finish('rollback', {}, services)).rejects.toThrow(Killed);
  };

  /** Runs the rollback until the first proof of the deployment has failed. */
  async function rollBackWithoutProof(migration: Migration): Promise<void> {
    const attempt = migration.finish('rollback', {}, reportUndoneDeployment(migration));
    await expect(attempt).rejects.toBeInstanceOf(RetryableFailure);
    migration.advanceClock(5_000);
  }

  /** Expects that the deployment has its full time to be proved again, after the rollback was interrupted in the second request. */
  async function expectTimeForProof(migration: Migration): Promise<void> {
    migration.advanceClock(6 * MINUTE_MS);
    const services = { ...reportUndoneDeployment(migration), ...silentBackend };
    const attempt = migration.invoke('rollback', {}, services);
    await expect(attempt).rejects.toBeInstanceOf(RetryableFailure);
    expect(await readPhase(migration)).toBe('switching-back');
  }

  it('is sent, however late, after a kill right before it', async () => {
    const migration = await createLive();
    await runUntilKilled(migration);
    migration.advanceClock(40 * MINUTE_MS);
    await migration.finish('rollback');
    expect(await readPhase(migration)).toBe('copied');
    expect(migration.operator.actions.slice(-2)).toEqual(['deploy-old', 'open-writes']);
  });

  itInFull(
    'is sent again, however late, if the deployment was reported as done and was not',
    async () => {
      const migration = await createLive();
      await rollBackWithoutProof(migration);
      migration.advanceClock(40 * MINUTE_MS);
      await migration.finish('rollback');
      expect(await readPhase(migration)).toBe('copied');
      expect(migration.operator.actions.slice(-2)).toEqual(['deploy-old', 'open-writes']);
    },
  );

  itInFull('is not repeated forever if the deployment is reported as done and is not', async () => {
    const migration = await createLive();
    await rollBackWithoutProof(migration);
    migration.advanceClock(40 * MINUTE_MS);
    let minutes = 0;
    do {
      const services = reportUndoneDeployment(migration);
      await migration.finish('rollback', {}, services).catch((error: unknown) => error);
      migration.advanceClock(MINUTE_MS);
      minutes += 1;
    } while ((await readPhase(migration)) === 'switching-back' && minutes < 30);
    expect(minutes).toBeLessThan(30);
  });

  itInFull('does not keep writes frozen forever if every attempt is killed', async () => {
    const migration = await createLive();
    let minutes = 0;
    do {
      const services = killBeforeRequest(migration, 'deploy-old');
      await migration.finish('rollback', {}, services).catch((error: unknown) => error);
      migration.advanceClock(5 * MINUTE_MS);
      minutes += 5;
    } while ((await readPhase(migration)) === 'switching-back' && minutes < 60);
    expect(minutes).toBeLessThan(60);
  });

  itInFull(
    'restarts the time for a proof if the rollback is killed right before the request',
    async () => {
      const migration = await createLive();
      await rollBackWithoutProof(migration);
      await runUntilKilled(migration);
      await expectTimeForProof(migration);
    },
  );

  itInFull(
    'restarts the time for a proof if the rollback is stopped during the request',
    async () => {
      const migration = await createLive();
      await rollBackWithoutProof(migration);
      const interruption = new AbortController();
      const stopped = onRequest(migration, 'deploy-old', (): HookOutcome => {
        interruption.abort(new Error('Interrupted'));
        return 'under-way';
      });
      const attempt = advance(rollback, changeServices(migration.services, stopped), {
        runId: RUN,
        intent: {},
        timeLeftMs: () => 600_000,
        interruption: interruption.signal,
      });
      await attempt.catch(() => undefined);
      await expectTimeForProof(migration);
    },
  );

  itInFull(
    'for the new version logs an unproved deployment if the backend does not answer',
    async () => {
      const migration = await createLive();
      const messages: string[] = [];
      const log: Services['log'] = ({ message }) => messages.push(message);
      const ignored = onRequest(migration, 'deploy-new', (): HookOutcome => 'under-way');
      const changed = { services: changeServices(migration.services, ignored) };
      const services = { ...onRequest(changed, 'deploy-old', () => 'done'), ...silentBackend, log };
      let minutes = 0;
      do {
        await migration.finish('rollback', {}, services).catch((error: unknown) => error);
        migration.advanceClock(MINUTE_MS);
        minutes += 1;
      } while ((await readPhase(migration)) === 'switching-back' && minutes < 60);
      expect(await readPhase(migration)).toBe('live');
      expect(messages).toContain(
        'The backend does not prove that the new version is back; writes are opened',
      );
    },
  );
});

it.each([
  { to: SOURCE, passed: { freezing: { facts: {} } }, plan: {} },
  { form: 'another version' },
  { passed: {} },
  { passed: { '#plan': {}, freezing: {} } },
])('a rollback with an unreadable record does not start over: %j', async (unreadable) => {
  const migration = await createLive();
  const services = killBeforeRequest(migration, 'deploy-old');
  await expect(migration.finish('rollback', {}, services)).rejects.toThrow(Killed);
  migration.advanceClock(5 * MINUTE_MS);
  const earlierActionCount = migration.operator.actions.length;
  const attempt = migration.finish('rollback', {}, withRecord(migration, unreadable));
  await expect(attempt).rejects.toThrow(/Invalid/);
  expect(await readPhase(migration)).toBe('switching-back');
  expect(migration.operator.actions.length).toBe(earlierActionCount);
});

it('a rollback that an earlier version recorded without a plan continues if users never left the old one', async () => {
  const migration = await createMigrationAt('equal');
  await migration.invoke('rollback', {}, {}, () => 0);
  expect(await readPhase(migration)).toBe('switching-back');
  await migration.finish('rollback', {}, withRecord(migration, { passed: {} }));
  expect(await readPhase(migration)).toBe('copied');
  expect(migration.operator.actions.at(-1)).toBe('open-writes');
});

describe('a rollback whose decisions were recorded beside its stages', () => {
  const refused = { name: 'RefusedStillNewVersion', why: 'It is.', data: {} };
  const unproved = { to: SOURCE, why: 'Nothing answers.' };

  it.each([
    { notes: {}, phase: 'copied', active: SOURCE },
    { notes: { failingSince: 0, failingAfter: 3, unproved }, phase: 'copied', active: SOURCE },
    { notes: { failingSince: 0, failingAfter: 3, unproved, refused }, phase: 'live' },
  ])('continues with them: $notes', async ({ notes, phase, active }) => {
    const migration = await createLive();
    const services = killBeforeRequest(migration, 'deploy-old');
    await expect(migration.finish('rollback', {}, services)).rejects.toThrow(Killed);
    migration.advanceClock(5 * MINUTE_MS);
    const journal = await readJournal(migration.services, RUN, 'rollback');
    const { '#plan': plan, ...passed } = journal?.passed ?? {};
    const noted = { passed, open: journal?.open, noted: { plan: plan?.found, ...notes } };
    expect((await readStatus(migration.services)).stages).toEqual(Object.keys(passed));
    const outcome = await migration
      .finish('rollback', {}, withRecord(migration, noted))
      .catch((error: unknown) => error);
    const run = await migration.runs.read(RUN);
    expect(run.phase).toBe(phase);
    expect(await migration.services.setting.read()).toBe(active ?? migration.target);
    expect(migration.operator.actions.at(-1)).toBe('open-writes');
    if (phase === 'live') expect(outcome).toMatchObject(refused);
    const isProved = run.takesNoWindow === undefined;
    expect(isProved).toBe(!('unproved' in notes) || phase === 'live');
  });
});

it('writes are opened in time if the window has expired and the old collection cannot be restored', async () => {
  const migration = await createMigrationAt('equal');
  const slowHooks = onRequest(migration, 'open-writes', () => 'under-way');
  await migration.invoke('cutover', {}, slowHooks);
  await migration.services.vectors.deleteCollection(SOURCE);
  migration.advanceClock(31 * MINUTE_MS);
  const earlierActionCount = migration.operator.actions.length;
  const services = changeServices(migration.services, {
    vectors: { countRestoredPoints: async () => undefined },
  });
  let minutes = 0;
  while (migration.operator.actions.length === earlierActionCount && minutes < 60) {
    await keepWatch(services).catch((error: unknown) => error);
    migration.advanceClock(MINUTE_MS);
    minutes += 1;
  }
  expect(migration.operator.actions.slice(earlierActionCount)).toContain('open-writes');
});

itInFull('a rollback that was refused and killed sends the webhook new requests', async () => {
  const migration = await createMigrationAt('live', { isUpgraded: true });
  const keys = new Set<string>();
  const { hooks } = migration.services;
  const ask: typeof hooks.ask = async (request) => {
    const key = `${request.occasion}:${request.action}`;
    if (keys.has(key)) return 'done';
    keys.add(key);
    return await hooks.ask(request);
  };
  const changes: ServiceChanges = { ...silentBackend, hooks: { ask } };
  const isRefused = ({ passed }: RecordedJournal) => '#end' in passed;
  const killedServices = killAfter(changeServices(migration.services, changes), isRefused);
  let outcome: unknown;
  for (let n = 0; n < 400 && !(outcome instanceof Killed); n += 1) {
    outcome = await migration
      .finish('rollback', {}, killedServices)
      .catch((error: unknown) => error);
    migration.advanceClock(20_000);
  }
  expect(outcome).toBeInstanceOf(Killed);
  for (let n = 0; n < 40 && (await readPhase(migration)) === 'switching-back'; n += 1) {
    await migration.finish('rollback', {}, changes).catch((error: unknown) => error);
    migration.advanceClock(20_000);
  }
  const { vectors, backend } = migration.services;
  const run = await migration.runs.read(RUN);
  const before = await vectors.count(SOURCE, filterTestUser(run));
  await backend.addMemory(`__migration_test_${RUN}`, 'I play the cello in London');
  expect(await vectors.count(SOURCE, filterTestUser(run))).toBe(before);
});

it('writes to the new version survive a kill, the loss of the old collection and its restore by hand', async () => {
  const migration = await createLive();
  const { vectors } = migration.services;
  const info = await vectors.readCollectionInfo(SOURCE);
  const { points } = await vectors.scroll(SOURCE, { limit: 1_000 });
  for (const text of ['One', 'Two', 'Three']) await writeToNew(migration, text);
  const before = await computeFingerprint(vectors, migration.target);
  let isDue = true;
  const deleting = onRequest(migration, 'open-writes', async () => {
    if (!isDue) return;
    isDue = false;
    await vectors.deleteCollection(SOURCE);
  });
  let wasDeployed = false;
  const killedServices = killAfter(changeServices(migration.services, deleting), ({ passed }) => {
    wasDeployed ||= 'deployed' in passed;
    return wasDeployed && !('frozen' in passed);
  });
  await expect(migration.finish('rollback', {}, killedServices)).rejects.toThrow(Killed);
  const { vectors: dense = {}, sparse_vectors = {} } = info?.config.params ?? {};
  await vectors.createCollection(SOURCE, { vectors: dense, sparse_vectors });
  await vectors.upsert(SOURCE, points as readonly Point[], 'upsert');
  migration.advanceClock(3 * MINUTE_MS);
  await migration.finish('rollback');
  expect((await computeFingerprint(vectors, SOURCE)).points).toBe(before.points);
});
