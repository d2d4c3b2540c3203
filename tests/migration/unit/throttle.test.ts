// The throttle that limits how fast a store is read, on the test's own clock.
import { describe, expect, it } from 'vitest';
import type { VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
import { asJsonText } from '../../../lib/migration/json/json-text.ts';
import { createBucket, createSlowdown, throttleStore } from '../../../lib/migration/throttle.ts';

function createClock() {
  let now = 0;
  const time = {
    now: () => now,
    sleep: async (milliseconds: number) => {
      now += milliseconds;
    },
  };
  return { time, pass: time.sleep };
}

const PAGE_POINTS = 256;

describe('a limit of 1,000 points a second', () => {
  const limit = async () => 1_000;

  it('holds from the first page on, even for several walks at once', async () => {
    const { time } = createClock();
    const bucket = createBucket(limit, time);
    await bucket.take(PAGE_POINTS);
    expect(time.now()).toBe(PAGE_POINTS);
    await Promise.all(Array.from({ length: 40 }, () => bucket.take(PAGE_POINTS)));
    expect(time.now()).toBe(41 * PAGE_POINTS);
  });

  it.each([
    ['for a vector counts', { vector: asJsonText<readonly number[]>('[1]') }, 10_000],
    ['that lists versions does not count', { slot: 'source', indices: [4] }, 0],
  ])('a search %s', async (_, nearest, milliseconds) => {
    const { time } = createClock();
    const search: VectorStore['search'] = async () => ({ hits: [], milliseconds: 1 });
    const store = throttleStore({ search } as VectorStore, createBucket(limit, time), time);
    await store.search('memories', { nearest, limit: 10_000 });
    expect(time.now()).toBe(milliseconds);
  });

  it('holds across steps that are resumed after each page', async () => {
    const { time } = createClock();
    for (let n = 0; n < 20; n += 1) await createBucket(limit, time).take(PAGE_POINTS);
    expect(time.now()).toBe(20 * PAGE_POINTS);
  });

  it('does not count requested points that do not exist', async () => {
    const { time } = createClock();
    const bucket = createBucket(limit, time);
    await bucket.take(PAGE_POINTS);
    bucket.giveBack(PAGE_POINTS - 6);
    await bucket.take(PAGE_POINTS);
    expect(time.now()).toBe(PAGE_POINTS + 6);
  });

  it('counts the time in which pages were processed, up to one second', async () => {
    const { time, pass } = createClock();
    const bucket = createBucket(limit, time);
    await pass(60_000);
    for (let n = 0; n < 5; n += 1) await bucket.take(PAGE_POINTS);
    expect(time.now()).toBe(60_000 + 5 * PAGE_POINTS - 1_000);
  });
});

it.each<[string, number | undefined]>([
  ['raised', 10_000],
  ['removed', undefined],
])(
  'a limit that is %s applies within seconds, even to a page that is waiting',
  async (_, newLimit) => {
    const { time } = createClock();
    const limit = async () => (time.now() < 3_000 ? 20 : newLimit);
    await createBucket(limit, time).take(PAGE_POINTS);
    expect(time.now()).toBeLessThan(6_000);
  },
);

it('there is no wait without a limit', async () => {
  const { time } = createClock();
  const bucket = createBucket(async () => undefined, time);
  for (let n = 0; n < 100; n += 1) await bucket.take(PAGE_POINTS);
  expect(time.now()).toBe(0);
});

describe('a copy without a limit', () => {
  /** Measures the pauses after responses of these durations. */
  async function measurePauses(durations: readonly number[], baselineMs?: number) {
    const { time } = createClock();
    const reported: number[] = [];
    const onBaseline = async (milliseconds: number) => void reported.push(milliseconds);
    const afterResponse = createSlowdown({ baselineMs, onBaseline }, time);
    const pauses: number[] = [];
    for (const duration of durations) {
      const start = time.now();
      await afterResponse(duration);
      pauses.push(time.now() - start);
    }
    return { pauses, reported };
  }

  const repeat = (count: number, milliseconds: number) => Array(count).fill(milliseconds);

  it('pauses while responses take more than twice as long as at its beginning, and then continues without pauses', async () => {
    const durations = [...repeat(6, 40), ...repeat(8, 100), ...repeat(8, 40)];
    const { pauses, reported } = await measurePauses(durations);
    expect(reported).toEqual([40]);
    expect(pauses.slice(0, 10)).toEqual(repeat(10, 0));
    expect(pauses.slice(10, 14)).toEqual([100, 200, 400, 400]);
    expect(pauses.slice(14)).toEqual([80, 40, 0, 0, 0, 0, 0, 0]);
  });

  it('remembers the first durations after it was resumed', async () => {
    const { pauses, reported } = await measurePauses(repeat(6, 100), 40);
    expect([pauses.at(-1), reported]).toEqual([200, []]);
  });

  it.each([
    ['a single slow response', [...repeat(5, 40), 500, ...repeat(5, 40)]],
    ['responses that are not noticeably slower', [...repeat(5, 2), ...repeat(9, 20)]],
  ])('does not pause for %s', async (_, durations) => {
    expect((await measurePauses(durations)).pauses).toEqual(repeat(durations.length, 0));
  });
});
