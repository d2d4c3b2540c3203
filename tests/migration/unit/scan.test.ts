// A scan counts every point of every user, and tells whether a collection has changed.
import { describe, expect, it } from 'vitest';
import type { VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
import { asJsonText } from '../../../lib/migration/json/json-text.ts';
import { digestUser } from '../../../lib/migration/points.ts';
import { scan } from '../../../lib/migration/scan.ts';

const NOW = new Date('2026-03-01T00:00:00Z');

/** Creates a collection that is read in pages of two points. */
function createCollection(payloads: readonly string[]): {
  store: Pick<VectorStore, 'scroll'>;
  collection: string;
} {
  const points = payloads.map((payload, index) => ({
    id: asJsonText<number>(String(index)),
    vector: undefined,
    payload: asJsonText<Record<string, unknown>>(payload),
  }));
  const scroll: VectorStore['scroll'] = async (_, { offset }) => {
    const from = Number(offset ?? 0);
    const isLast = from + 2 >= points.length;
    const nextOffset = isLast ? null : asJsonText<number>(String(from + 2));
    return { points: points.slice(from, from + 2), nextOffset };
  };
  return { store: { scroll }, collection: 'memories' };
}

const scanPayloads = (payloads: readonly string[], excludedUser?: string) =>
  scan(createCollection(payloads), {
    now: NOW,
    ...(excludedUser === undefined ? {} : { excludedUser }),
  });

const ADA = '{"user_id":"ada","data":"sails"}';
const BOB = '{"user_id":"bob","data":"rows"}';

describe('a scan', () => {
  it('counts every user, and finds those with the most memories', async () => {
    const { contents, counts } = await scanPayloads([ADA, BOB, ADA, ADA]);
    expect(contents).toMatchObject({ points: 4, users: 2, expired: 0 });
    expect(counts.listLargest(1)).toEqual([{ user: digestUser('ada'), points: 3 }]);
  });

  it('counts memories of an agent or a session without a user', async () => {
    const { contents, counts } = await scanPayloads([
      ADA,
      '{"agent_id":"planner","data":"x"}',
      '{"agent_id":"planner","run_id":"r1","data":"y"}',
      '{"run_id":"r1","data":"z"}',
      '{"user_id":"ada","agent_id":"planner","data":"w"}',
    ]);
    expect(contents).toMatchObject({ points: 5, users: 3 });
    expect(Object.values(contents.unreachable)).toEqual([0, 0, 0, 0]);
    expect(counts.listLargest(9).map(({ points }) => points)).toEqual([2, 2, 1]);
  });

  it('distinguishes an agent, a user and a session with the same id', async () => {
    const digests = ['user_id', 'agent_id', 'run_id'].map(
      async (key) => (await scanPayloads([`{"${key}":"ada"}`])).contents.usersDigest,
    );
    expect(new Set(await Promise.all(digests)).size).toBe(3);
  });

  it('accepts a memory with several ids if the new version finds it by one of them', async () => {
    const { contents } = await scanPayloads(['{"user_id":"ada l","agent_id":"planner"}']);
    expect(Object.values(contents.unreachable)).toEqual([0, 0, 0, 0]);
  });

  it('assigns memories without a user to no user', async () => {
    const { contents, counts } = await scanPayloads([ADA, '{"data":"x"}', '{"data":"y"}']);
    expect(contents).toMatchObject({ points: 3, users: 1 });
    expect(counts.listLargest(2)).toEqual([{ user: digestUser('ada'), points: 1 }]);
  });

  it.each([
    ['without a user', '{"data":"x"}', 'absent'],
    ['with an empty payload', '{}', 'absent'],
    ['with a null user', '{"user_id":null}', 'absent'],
    ['with an empty user', '{"user_id":""}', 'absent'],
    ['under the name of the TypeScript version', '{"userId":"ada"}', 'camel-case'],
    ['with a number as the user', '{"user_id":5}', 'not-a-text'],
    ['with white space in the id', '{"user_id":"ada l"}', 'white-space'],
    ['of an agent with white space in the id', '{"agent_id":"my agent"}', 'white-space'],
    ['of a session that is a number', '{"run_id":5}', 'not-a-text'],
    ['of an agent of the TypeScript version', '{"agentId":"planner"}', 'camel-case'],
  ])('counts a memory %s, which the new version does not find', async (_, payload, reason) => {
    const { contents } = await scanPayloads([ADA, payload]);
    expect(contents.points).toBe(2);
    expect(contents.unreachable).toMatchObject({ [reason]: 1 });
    expect(Object.values(contents.unreachable).reduce((sum, count) => sum + count, 0)).toBe(1);
    expect(contents.usersDigest).not.toBe((await scanPayloads([ADA])).contents.usersDigest);
  });

  it.each([
    ['in the past', '"2026-02-28"', 1],
    ['in the future', '"2026-03-02"', 0],
    ['that cannot be read', '"soon"', 0],
    ['that is not a string', '5', 0],
  ])(
    'counts a memory as expired only if its date has passed: a date %s',
    async (_, date, expired) => {
      const { contents } = await scanPayloads([`{"user_id":"ada","expiration_date":${date}}`, ADA]);
      expect(contents.expired).toBe(expired);
    },
  );

  it('computes the same digest for the same content, in any order of keys', async () => {
    const { contents } = await scanPayloads([ADA, BOB]);
    const reordered = '{"data":"sails","user_id":"ada"}';
    expect((await scanPayloads([reordered, BOB])).contents).toEqual(contents);
    const changed = (await scanPayloads(['{"user_id":"ada","data":"rows"}', BOB])).contents;
    expect(changed.digest).not.toBe(contents.digest);
    expect(changed.usersDigest).toBe(contents.usersDigest);
  });

  it('distinguishes the user "5" from the number 5', async () => {
    const text = await scanPayloads(['{"user_id":"5"}']);
    const number = await scanPayloads(['{"user_id":5}']);
    expect(text.contents.usersDigest).not.toBe(number.contents.usersDigest);
  });

  it('ignores the memories of an excluded user', async () => {
    expect((await scanPayloads([ADA, BOB], 'bob')).contents).toEqual(
      (await scanPayloads([ADA])).contents,
    );
    expect((await scanPayloads([ADA, '{"data":"x"}'], 'bob')).contents.points).toBe(2);
  });

  it('finds every difference between two sets of counts', async () => {
    const before = await scanPayloads([ADA, ADA, BOB]);
    const { counts } = await scanPayloads([ADA, BOB, '{"user_id":"eve"}']);
    for (const { user, points } of before.counts.listCounts()) counts.add(user, -points);
    expect([...counts.listCounts()].toSorted((a, b) => a.points - b.points)).toEqual([
      { user: digestUser('ada'), points: -1 },
      { user: digestUser('eve'), points: 1 },
    ]);
  });
});
