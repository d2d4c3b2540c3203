// A second witness is asked for many users at once, and never for longer than there is time; the record says of how many.
import { describe, expect, it } from 'vitest';
import { recordCounts } from '../../../../lib/migration/proof/count-record.ts';
import { LONGEST_MS } from '../../../../lib/migration/proof/second-witness.ts';
import { Refusal } from '../../../../lib/migration/refusals.ts';

const USERS = 100;
const PATIENT = { hasTime: () => true, signal: new AbortController().signal };

/** user-0 has one memory, user-99 a hundred. */
const users = new Map(Array.from({ length: USERS }, (_, at) => [`user-${at}`, at + 1]));
const census = {
  ...{ points: 5_050, users, expired: 0, withText: 0 },
  unreachable: { absent: 0, 'not-a-text': 0, 'white-space': 0, 'camel-case': 0 },
};

/** @param answer to the question of that number, from 1 on */
function witness(answer: (userId: string, question: number) => number | Promise<number>) {
  const heard: string[] = [];
  let now = 0;
  let underWay = 0;
  let mostAtOnce = 0;
  async function memoryCount(userId: string) {
    const question = heard.push(userId);
    underWay += 1;
    mostAtOnce = Math.max(mostAtOnce, underWay);
    try {
      await Promise.resolve();
      return await answer(userId, question);
    } finally {
      underWay -= 1;
    }
  }
  const unasked = () => Promise.reject(new Error('Not to be asked'));
  const others = ['health', 'chat', 'addMemory', 'search', 'bestMatch', 'isGraphDeprecated'];
  const services = {
    clock: () => new Date(now),
    backend: {
      ...(Object.fromEntries(others.map((name) => [name, unasked])) as Record<string, never>),
      memoryCount,
    },
  };
  return {
    services: services as unknown as Parameters<typeof recordCounts>[0],
    heard,
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
    underWay: () => underWay,
    mostAtOnce: () => mostAtOnce,
  };
}

const exact = (userId: string) => users.get(userId) ?? 0;

describe('the second witness', () => {
  it('is asked for every user once, several at a time', async () => {
    const { services, heard, mostAtOnce } = witness(exact);
    const record = await recordCounts(services, census, PATIENT);
    expect(record).toMatchObject({ witness: 'asked', asked: USERS, disagreements: [] });
    expect(heard.toSorted()).toEqual([...users.keys()].toSorted());
    expect(mostAtOnce()).toBe(16);
  });

  it('is asked for those with most memories, as long as there is time for it', async () => {
    const late = witness((userId, question) => {
      if (question === 32) late.pass(LONGEST_MS);
      return exact(userId) === 100 ? 50 : exact(userId);
    });
    const record = await recordCounts(late.services, census, PATIENT);
    expect(record).toMatchObject({
      ...{ witness: 'in-part', asked: late.heard.length },
      disagreements: [{ userId: 'user-99', points: 100, backend: 50 }],
    });
    expect(record.users).toHaveLength(USERS);
    expect(late.heard.length).toBeGreaterThanOrEqual(32);
    expect(late.heard.length).toBeLessThanOrEqual(48);
    const smallest = Math.min(...late.heard.map(exact));
    expect(smallest).toBe(USERS - late.heard.length + 1);
  });

  it('is not asked any more when the function has to come to its end', async () => {
    const { services, heard } = witness(exact);
    const patience = { ...PATIENT, hasTime: () => heard.length < 20 };
    const record = await recordCounts(services, census, patience);
    expect(record).toMatchObject({ witness: 'in-part', asked: 20 });
  });

  it('stops when the turn is over', async () => {
    const controller = new AbortController();
    const { services, heard, underWay } = witness((userId, question) => {
      if (question === 20) controller.abort(new Error('over'));
      return exact(userId);
    });
    const patience = { ...PATIENT, signal: controller.signal };
    await expect(recordCounts(services, census, patience)).rejects.toThrow('over');
    expect(heard.length).toBeLessThan(40);
    expect(underWay()).toBe(0);
  });

  it('that refuses is none, however many it had told before', async () => {
    const { services } = witness((userId, question) => {
      if (question > 40) throw new Refusal('RefusedKeyOfOtherUser', 'Not yours.');
      return exact(userId) + 1;
    });
    const record = await recordCounts(services, census, PATIENT);
    expect(record).toMatchObject({ witness: 'refused', asked: 0, disagreements: [] });
  });

  it('that fails is told, and nothing is under way by then', async () => {
    const { services, heard, underWay } = witness((userId, question) => {
      if (question > 40) throw new Error('odd');
      return exact(userId);
    });
    await expect(recordCounts(services, census, PATIENT)).rejects.toThrow('odd');
    expect(heard.length).toBeLessThan(60);
    expect(underWay()).toBe(0);
  });
});
