// The lock allows one run and one step at a time. A step that was presumed dead can no longer change anything.
import { beforeEach, describe, expect, it } from 'vitest';
import { failureNamed } from '../support/refused.ts';
import { LEASE_MS, RUN_TABLES, type RunTable } from '../support/run-table.ts';

describe.each(RUN_TABLES)('the lock of a run table %s', (_, open) => {
  let table: RunTable;

  beforeEach(async () => {
    table = await open();
  });

  /** Records that a step has brought the run into the phase. */
  async function finish(id: string, phase: 'live' | 'aborted' | 'closed'): Promise<void> {
    const lease = await table.lock.take(id);
    await table.runs.finish(lease, { ...(await table.runs.read(id)), phase }, 'cutover');
  }

  async function beginLive(id: string): Promise<void> {
    await table.begin(id);
    await finish(id, 'live');
  }

  describe('two runs', () => {
    it('do not both start at the same time: one gets the lock, the others are refused', async () => {
      const ids = ['run-a', 'run-b', 'run-c', 'run-d'];
      const outcomes = await Promise.allSettled(ids.map((id) => table.begin(id)));
      const started = outcomes.filter(({ status }) => status === 'fulfilled');
      expect(started).toHaveLength(1);
      const holder = await table.lock.activeRun();
      for (const outcome of outcomes) {
        if (outcome.status === 'fulfilled') expect(outcome.value.runId).toBe(holder);
        else expect(outcome.reason).toEqual(failureNamed('RefusedOtherRun'));
      }
      for (const id of ids.filter((id) => id !== holder)) {
        await expect(table.runs.read(id)).rejects.toEqual(failureNamed('RefusedUnknownRun'));
      }
    });

    it('cannot have the same id', async () => {
      await table.begin('run-a');
      await expect(table.begin('run-a')).rejects.toEqual(failureNamed('RefusedNameTaken'));
    });

    it('can begin one after the other, but not before the first has ended', async () => {
      const run = await table.begin('run-a');
      const lease = await table.lock.take('run-a');
      await table.runs.write(lease, { ...run, phase: 'switching' });
      table.advanceClock(40 * 86_400_000);
      await expect(table.begin('run-b')).rejects.toEqual(failureNamed('RefusedOtherRun'));

      await table.runs.finish(lease, { ...run, phase: 'closed' }, 'retention');
      expect(await table.lock.activeRun()).toBeUndefined();
      expect(await table.lock.currentRun()).toBe('run-a');
      await expect(table.lock.take('run-a')).rejects.toEqual(
        failureNamed('RefusedNotNow', 'No run is under way'),
      );
      await table.begin('run-b');
      expect(await table.lock.activeRun()).toBe('run-b');
    });

    it('may overlap once the first is live, but then its steps are refused until the second is live', async () => {
      await beginLive('run-a');
      expect(await table.lock.activeRun()).toBeUndefined();
      expect(await table.lock.retainedRuns()).toEqual(['run-a']);

      await table.begin('run-b');
      await expect(table.lock.take('run-a')).rejects.toEqual(failureNamed('RefusedOtherRun'));
      await finish('run-b', 'live');
      expect(await table.lock.retainedRuns()).toEqual(['run-a', 'run-b']);

      await finish('run-a', 'closed');
      expect(await table.lock.retainedRuns()).toEqual(['run-b']);
    });

    it('have a current run: the run in progress, or the live run, or the run that ended last', async () => {
      const { lock } = table;
      expect(await lock.currentRun()).toBeUndefined();
      await beginLive('run-a');
      await table.begin('run-b');
      expect(await lock.currentRun()).toBe('run-b');
      await finish('run-b', 'aborted');
      expect(await lock.currentRun()).toBe('run-a');
      await finish('run-a', 'closed');
      expect(await lock.currentRun()).toBe('run-a');
    });

    it('can follow each other even if a step of a live run has crashed', async () => {
      await beginLive('run-a');
      await table.lock.take('run-a');
      await expect(table.begin('run-b')).rejects.toEqual(failureNamed('RefusedOtherRun'));
      table.advanceClock(LEASE_MS);
      await table.begin('run-b');
      expect(await table.lock.activeRun()).toBe('run-b');
    });

    it('cannot begin while a live run is being rolled back, even if the rollback has crashed or is waiting', async () => {
      await beginLive('run-a');
      const run = await table.runs.read('run-a');
      const leaseOfA = await table.lock.take('run-a');
      await table.runs.write(leaseOfA, { ...run, phase: 'switching-back' });
      table.advanceClock(LEASE_MS);
      await expect(table.begin('run-b')).rejects.toEqual(failureNamed('RefusedOtherRun'));
      await table.lock.release(await table.lock.take('run-a'));
      await expect(table.begin('run-b')).rejects.toEqual(failureNamed('RefusedOtherRun'));
    });

    it("do not take each other's lock", async () => {
      await table.begin('run-a');
      for (const take of [table.lock.take, table.lock.assertCanTake]) {
        await expect(take('run-b')).rejects.toEqual(failureNamed('RefusedOtherRun'));
      }
      await expect(table.lock.assertFree()).rejects.toEqual(failureNamed('RefusedOtherRun'));
    });
  });

  describe('two steps of a run', () => {
    beforeEach(async () => {
      await table.begin('run-a');
    });

    it('do not both begin at the same time: one gets the lease, the others must retry', async () => {
      const leases = await Promise.allSettled(
        Array.from({ length: 6 }, () => table.lock.take('run-a')),
      );
      expect(leases.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const lease of leases) {
        if (lease.status === 'rejected')
          expect(lease.reason).toEqual(failureNamed('RetryableLockHeld'));
      }
    });

    it('follow each other at once when the first releases its lease', async () => {
      const first = await table.lock.take('run-a');
      await table.lock.release(first);
      expect(await table.lock.take('run-a')).toEqual({ runId: 'run-a', epoch: first.epoch + 1 });
    });

    it.each([
      ['must wait until the lease expires', LEASE_MS - 1, false],
      ['gets the lock of a crashed step when the lease has expired', LEASE_MS, true],
    ])('the second %s', async (_, elapsedMs, succeeds) => {
      const first = await table.lock.take('run-a');
      table.advanceClock(elapsedMs);
      const second = table.lock.take('run-a');
      if (succeeds) expect((await second).epoch).toBe(first.epoch + 1);
      else await expect(second).rejects.toEqual(failureNamed('RetryableLockHeld'));
    });

    it("the second does not wait if it sees that the first one's process has ended", async () => {
      const ended = new Set<string>();
      const createProcess = (self: string) =>
        table.asProcess({ self, hasEnded: (holder) => ended.has(holder) }).lock;
      const first = await createProcess('one').take('run-a');
      table.advanceClock(3_000);
      await expect(createProcess('two').take('run-a')).rejects.toEqual(
        failureNamed('RetryableLockHeld'),
      );
      ended.add('one');
      const second = await createProcess('two').take('run-a');
      expect(second.epoch).toBe(first.epoch + 1);
      await expect(table.lock.renew(first)).rejects.toEqual(failureNamed('RefusedLockLost'));
    });

    it('the second waits a moment for the last requests of a killed process', async () => {
      await table.asProcess({ self: 'one', hasEnded: () => true }).lock.take('run-a');
      table.advanceClock(2_999);
      const second = table.asProcess({ self: 'two', hasEnded: () => true }).lock;
      await expect(second.take('run-a')).rejects.toEqual(failureNamed('RetryableLockHeld'));
    });

    it('count as running while one of them has a lease', async () => {
      expect(await table.lock.leaseOf('run-a')).toBeUndefined();
      const lease = await table.lock.take('run-a');
      const since = table.clock().getTime();
      table.advanceClock(30_000);
      await table.lock.renew(lease);
      const until = since + 30_000 + LEASE_MS;
      expect(await table.lock.leaseOf('run-a')).toEqual({ since, until });
      expect(await table.lock.leaseOf('run-b')).toBeUndefined();
      await table.lock.release(lease);
      expect(await table.lock.leaseOf('run-a')).toBeUndefined();
    });

    it('the first keeps its lease while it renews it', async () => {
      const first = await table.lock.take('run-a');
      table.advanceClock(LEASE_MS - 1);
      await table.lock.renew(first);
      table.advanceClock(LEASE_MS - 1);
      await expect(table.lock.take('run-a')).rejects.toEqual(failureNamed('RetryableLockHeld'));
    });

    it('the first may continue after its lease has expired if no other step took the lock', async () => {
      const first = await table.lock.take('run-a');
      table.advanceClock(10 * LEASE_MS);
      await table.lock.renew(first);
      await expect(table.lock.take('run-a')).rejects.toEqual(failureNamed('RetryableLockHeld'));
    });
  });

  describe('a step whose lease was taken over', () => {
    it('cannot renew, write, finish or save anything', async () => {
      const run = await table.begin('run-a');
      const dead = await table.lock.take('run-a');
      await table.runs.saveCheckpoint(dead, 'copy', { state: { cursor: 'first' } });
      table.advanceClock(LEASE_MS);
      const alive = await table.lock.take('run-a');

      const attempts = [
        () => table.lock.renew(dead),
        () => table.runs.write(dead, { ...run, phase: 'live' }),
        () => table.runs.finish(dead, { ...run, phase: 'closed' }, 'copy'),
        () => table.runs.saveCheckpoint(dead, 'copy', { state: { cursor: 'zombie' } }),
      ];
      for (const attempt of attempts) {
        await expect(attempt()).rejects.toEqual(failureNamed('RefusedLockLost'));
      }
      expect((await table.runs.read('run-a')).phase).toBe('checked');
      expect(await table.lock.activeRun()).toBe('run-a');
      expect((await table.runs.readCheckpoint('run-a', 'copy'))?.state).toEqual({
        cursor: 'first',
      });
      await table.lock.renew(alive);
    });

    it('does not release the lease of its successor', async () => {
      await table.begin('run-a');
      const dead = await table.lock.take('run-a');
      table.advanceClock(LEASE_MS);
      await table.lock.take('run-a');
      await table.lock.release(dead);
      await expect(table.lock.take('run-a')).rejects.toEqual(failureNamed('RetryableLockHeld'));
    });
  });
});
