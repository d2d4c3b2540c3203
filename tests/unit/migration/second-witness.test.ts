// The memory backend is asked for some users, several at once and never for longer than there is time; whatever it
// answers, or does not, is recorded and stops nothing.
import { describe, expect, it } from 'vitest';
import type { MemoryBackend } from '../../../lib/migration/adapters/http-memory-backend.ts';
import { userDigest, userHash } from '../../../lib/migration/points.ts';
import { Refusal, RetryableFailure } from '../../../lib/migration/refusals.ts';
import { askWitness, LONGEST_MS } from '../../../lib/migration/steps/recorded-counts.ts';
import { createUserCounts } from '../../../lib/migration/user-counts.ts';

const USERS = 100;
const sample = Array.from({ length: USERS }, (_, at) => `user-${at}`);
const counts = createUserCounts();
for (const [at, user] of sample.entries()) counts.add(userHash(user), at + 1);

const exact = (user: string) => Number(user.slice('user-'.length)) + 1;

/** @param answer to the question of that number, from 1 on */
function witness(answer: (user: string, question: number) => number) {
  const heard: string[] = [];
  const controller = new AbortController();
  let now = 0;
  let open = 0;
  let mostAtOnce = 0;
  const unasked = () => Promise.reject(new Error('Not to be asked'));
  const backend: MemoryBackend = {
    health: unasked,
    chat: unasked,
    addMemory: unasked,
    search: unasked,
    bestMatch: unasked,
    isGraphDeprecated: unasked,
    async memoryCount(user) {
      const question = heard.push(user);
      open += 1;
      mostAtOnce = Math.max(mostAtOnce, open);
      try {
        await Promise.resolve();
        return answer(user, question);
      } finally {
        open -= 1;
      }
    },
  };
  const services = { backend, clock: () => new Date(now) };
  return {
    ask: (hasTime = () => true) =>
      askWitness({ services, hasTime, signal: controller.signal }, { sample, counts }),
    heard,
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
    abort: () => controller.abort(new Error('lost the lock')),
    open: () => open,
    mostAtOnce: () => mostAtOnce,
  };
}

describe('the second witness', () => {
  it('is asked for every user of the sample once, several at a time', async () => {
    const { ask, heard, mostAtOnce } = witness(exact);
    expect(await ask()).toEqual({
      witness: 'asked',
      asked: USERS,
      disagreements: 0,
      disagreeing: '',
    });
    expect(heard.toSorted()).toEqual(sample.toSorted());
    expect(mostAtOnce()).toBe(16);
  });

  it('may count otherwise, which is recorded by the digests of some users', async () => {
    const { ask } = witness((user) => Math.min(50, exact(user)));
    const { disagreements, disagreeing } = await ask();
    expect(disagreements).toBe(50);
    const known = new Set(sample.slice(50).map(userDigest));
    expect(disagreeing.split(', ').filter((user) => known.has(user))).toHaveLength(5);
  });

  it('is not asked any more when the function has to end, or its own time is over', async () => {
    const hurried = witness(exact);
    expect(await hurried.ask(() => hurried.heard.length < 20)).toMatchObject({
      ...{ witness: 'in-part', asked: 33 },
    });
    const late = witness((user, question) => {
      if (question === 32) late.pass(LONGEST_MS);
      return exact(user);
    });
    expect(await late.ask()).toMatchObject({ witness: 'in-part', asked: late.heard.length });
    expect(late.heard.length).toBeLessThanOrEqual(48);
  });

  it('stops when the lock is lost', async () => {
    const overtaken = witness((user, question) => {
      if (question === 20) overtaken.abort();
      return exact(user);
    });
    await expect(overtaken.ask()).rejects.toThrow('lost the lock');
    expect(overtaken.heard.length).toBeLessThan(40);
    expect(overtaken.open()).toBe(0);
  });

  it.each([
    ['is away', new RetryableFailure('RetryableUnavailable', 'No answer.')],
    ['has no such route', new Refusal('RefusedByService', '/stats answered 404.')],
    ['refuses the key for other users', new Refusal('RefusedKeyOfOtherUser', 'Not yours.')],
    ['fails in some other way', new Error('odd')],
  ])('that %s is recorded as unavailable', async (_, error) => {
    const first = witness(() => {
      throw error;
    });
    expect(await first.ask()).toMatchObject({ witness: 'unavailable', asked: 0, disagreements: 0 });
    expect(first.heard).toHaveLength(1);
    const later = witness((user, question) => {
      if (question > 40) throw error;
      return exact(user) + 1;
    });
    expect(await later.ask()).toMatchObject({ witness: 'unavailable', asked: 0, disagreements: 0 });
    expect(later.heard.length).toBeLessThan(60);
    expect(later.open()).toBe(0);
  });
});
