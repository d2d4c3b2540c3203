// A lease is renewed only while its work runs. If it cannot be renewed, the work is aborted.
import { expect, test } from 'vitest';
import { MAX_CALL_MS } from '../../../../lib/migration/adapters/qdrant/transport.ts';
import { Refusal } from '../../../../lib/migration/refusals.ts';
import { keepLeaseDuring, startInterval } from '../../../../lib/migration/runs/run-lock.ts';
import { LEASE_MS } from '../../../../lib/migration/runs/run-store.ts';
import { BACKEND_TIMEOUT_MS } from '../../../../lib/migration/services-from-environment.ts';
import { createManualTicker } from '../../support/run-table.ts';

const LEASE = 1_000;
const LEASE_LOST = new Refusal('RefusedLockLost', 'Lease 1 is over.');
const UNREACHABLE = new Error('no answer');

function createScene(renew: () => Promise<void> = async () => {}) {
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

test('the heartbeat renews a lease four times per lease duration while the work lasts, and never afterwards', async () => {
  const { heartbeat, beats, beatAfter, renewals } = createScene();
  await keepLeaseDuring(heartbeat, async (signal) => {
    for (let n = 1; n <= 40; n += 1) await beatAfter(LEASE / 4);
    expect(beats.intervals()).toEqual([LEASE / 4]);
    expect(signal.aborted).toBe(false);
  });
  expect(renewals()).toBe(40);
  expect(beats.intervals()).toEqual([]);
});

test('the heartbeat ends with work that fails, and throws its failure', async () => {
  const { heartbeat, beats } = createScene();
  const failing = keepLeaseDuring(heartbeat, () => Promise.reject(new Error('the work failed')));
  await expect(failing).rejects.toThrow('the work failed');
  expect(beats.intervals()).toEqual([]);
});

test('the end of the work waits for a renewal in progress, so that it cannot follow the release', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const { heartbeat, beats } = createScene(() => answered);
  const events: string[] = [];
  const ended = keepLeaseDuring(heartbeat, async () => {
    void beats.beat();
    events.push('work');
  }).then(() => events.push('end'));
  await new Promise(setImmediate);
  expect(events).toEqual(['work']);
  answer();
  await ended;
  expect(events).toEqual(['work', 'end']);
});

test('no renewal begins while another is in progress', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const { heartbeat, beats, renewals } = createScene(() => answered);
  await keepLeaseDuring(heartbeat, async () => {
    const attempts = [beats.beat(), beats.beat(), beats.beat()];
    answer();
    await Promise.all(attempts);
    expect(renewals()).toBe(1);
    await beats.beat();
    expect(renewals()).toBe(2);
  });
});

test('the work is aborted at once when its lease is lost', async () => {
  const { heartbeat, beatAfter } = createScene(() => Promise.reject(LEASE_LOST));
  await keepLeaseDuring(heartbeat, async (signal) => {
    await beatAfter(LEASE / 4);
    expect(() => signal.throwIfAborted()).toThrow(LEASE_LOST);
  });
});

test('the work is aborted if no renewal is answered for a whole lease duration', async () => {
  let isReachable = true;
  const { heartbeat, beatAfter } = createScene(async () => {
    if (!isReachable) throw UNREACHABLE;
  });
  await keepLeaseDuring(heartbeat, async (signal) => {
    const isAbortedAfter = async (...reachable: boolean[]) => {
      for (const isReachableNow of reachable) {
        isReachable = isReachableNow;
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

test('a lease is renewed in real time unless a test sets the clock', async () => {
  const { promise: beaten, resolve: beat } = Promise.withResolvers<string>();
  const { heartbeat } = createScene(async () => beat('beaten'));
  const work = keepLeaseDuring({ ...heartbeat, leaseMs: 4, ticker: startInterval }, () => beaten);
  await expect(work).resolves.toBe('beaten');
});

test('a change takes less time than a lease, so the response comes before the lease expires', () => {
  expect(MAX_CALL_MS).toBeLessThan(LEASE_MS);
  expect(BACKEND_TIMEOUT_MS).toBeLessThan(LEASE_MS);
});
