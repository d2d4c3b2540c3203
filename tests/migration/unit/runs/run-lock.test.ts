// A lease is renewed for as long as its work runs, and no longer. If it cannot be renewed, the work is aborted.
import { expect, test } from 'vitest';
import { MAX_CALL_MS } from '../../../../lib/migration/adapters/qdrant/transport.ts';
import { Refusal } from '../../../../lib/migration/refusals.ts';
import { keepLeaseDuring, startInterval } from '../../../../lib/migration/runs/run-lock.ts';
import { LEASE_MS } from '../../../../lib/migration/runs/run-store.ts';
import { BACKEND_TIMEOUT_MS } from '../../../../lib/migration/services-from-environment.ts';
import { createManualTicker } from '../../support/run-table.ts';

const LEASE = 1_000;
const OVER = new Refusal('RefusedLockLost', 'StepContext 1 is over.');
const UNREACHABLE = new Error('no answer');

function scene(renew: () => Promise<void> = async () => {}) {
  const beats = createManualTicker();
  let time = 0;
  let renewals = 0;
  const heartbeat = {
    renew: async () => {
      renewals += 1;
      await renew();
    },
    now: () => time,
    leaseMs: LEASE,
    ticker: beats.ticker,
  };
  const beatAfter = async (milliseconds: number) => {
    time += milliseconds;
    await beats.beat();
  };
  return { heartbeat, beats, beatAfter, renewals: () => renewals };
}

test('renews a lease four times in its length while the work lasts, and never afterwards', async () => {
  const { heartbeat, beats, beatAfter, renewals } = scene();
  await keepLeaseDuring(heartbeat, async (signal) => {
    for (let n = 1; n <= 40; n += 1) await beatAfter(LEASE / 4);
    expect(beats.intervals()).toEqual([LEASE / 4]);
    expect(signal.aborted).toBe(false);
  });
  expect(renewals()).toBe(40);
  expect(beats.intervals()).toEqual([]);
});

test('ends with work that fails, and passes its failure on', async () => {
  const { heartbeat, beats } = scene();
  const failing = keepLeaseDuring(heartbeat, () => Promise.reject(new Error('of the work')));
  await expect(failing).rejects.toThrow('of the work');
  expect(beats.intervals()).toEqual([]);
});

test('waits for a renewal in progress, so that it cannot follow the release', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const { heartbeat, beats } = scene(() => answered);
  const done: string[] = [];
  const whole = keepLeaseDuring(heartbeat, async () => {
    void beats.beat();
    done.push('work');
  }).then(() => done.push('end'));
  await new Promise(setImmediate);
  expect(done).toEqual(['work']);
  answer();
  await whole;
  expect(done).toEqual(['work', 'end']);
});

test('does not begin a renewal while another is in progress', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const { heartbeat, beats, renewals } = scene(() => answered);
  await keepLeaseDuring(heartbeat, async () => {
    const all = [beats.beat(), beats.beat(), beats.beat()];
    answer();
    await Promise.all(all);
    expect(renewals()).toBe(1);
    await beats.beat();
    expect(renewals()).toBe(2);
  });
});

test('tells the work at once that its lease is lost', async () => {
  const { heartbeat, beatAfter } = scene(() => Promise.reject(OVER));
  await keepLeaseDuring(heartbeat, async (signal) => {
    await beatAfter(LEASE / 4);
    expect(() => signal.throwIfAborted()).toThrow(OVER);
  });
});

test('survives missing answers for the length of its lease and no longer', async () => {
  let isReachable = true;
  const { heartbeat, beatAfter } = scene(async () => {
    if (!isReachable) throw UNREACHABLE;
  });
  await keepLeaseDuring(heartbeat, async (signal) => {
    const isAbortedAfter = async (...answers: boolean[]) => {
      for (const answer of answers) {
        isReachable = answer;
        await beatAfter(LEASE / 4);
      }
      return signal.aborted;
    };
    expect(await isAbortedAfter(true, false, false, false)).toBe(false);
    expect(await isAbortedAfter(true, false, false, false)).toBe(false);
    expect(await isAbortedAfter(false)).toBe(true);
    expect(() => signal.throwIfAborted()).toThrow(UNREACHABLE);
  });
});

test('renews in real time unless a test sets the clock', async () => {
  const { promise: beaten, resolve: beat } = Promise.withResolvers<string>();
  const { heartbeat } = scene(async () => beat('beaten'));
  const work = keepLeaseDuring({ ...heartbeat, leaseMs: 4, ticker: startInterval }, () => beaten);
  await expect(work).resolves.toBe('beaten');
});

test('a change takes less time than a lease: one that begins in a lease is answered in it', () => {
  expect(MAX_CALL_MS).toBeLessThan(LEASE_MS);
  expect(BACKEND_TIMEOUT_MS).toBeLessThan(LEASE_MS);
});
