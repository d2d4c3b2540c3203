// A store that does not answer is waited for as long as is said, and that is said now and then.
import { describe, expect, it } from 'vitest';
import { PATIENT_PACE } from '../../../../lib/migration/adapters/qdrant/transport.ts';
import { retry } from '../../../../lib/retry.ts';
import { tellingPace } from '../../../../local/migrate/telling-pace.ts';

function createTime() {
  let now = 0;
  const clocked = {
    ...PATIENT_PACE,
    now: () => now,
    random: () => 0.5,
    sleep: async (milliseconds: number) => {
      now += milliseconds;
    },
  };
  return { clocked, passed: () => now };
}

describe('the patience of the command line', () => {
  it('ends after half a minute, a word being said every few seconds', async () => {
    const { clocked, passed } = createTime();
    const told: string[] = [];
    const pace = tellingPace(clocked, (line) => told.push(line));
    const asked = retry(
      pace,
      () => true,
      () => Promise.reject(new Error('GET /: no answer')),
    );
    await expect(asked).rejects.toThrow('no answer');
    expect(passed()).toBeGreaterThan(15_000);
    expect(passed()).toBeLessThanOrEqual(30_000);
    expect(told[0]).toBe(
      'waiting for the vector store of QDRANT_URL, up to 30 s (GET /: no answer)',
    );
    expect(told.length).toBeGreaterThan(2);
    expect(told.length).toBeLessThanOrEqual(7);
  });

  it('says nothing of a store that answers', async () => {
    const told: string[] = [];
    const pace = tellingPace(createTime().clocked, (line) => told.push(line));
    expect(
      await retry(
        pace,
        () => true,
        async () => 'well',
      ),
    ).toBe('well');
    expect(told).toEqual([]);
  });
});
