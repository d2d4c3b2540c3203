// Queries that DynamoDB answers in pieces, as it does above one megabyte: they go on where the last piece ended.
import type { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { DEFAULT_RETRY_POLICY } from '../../../lib/retry.ts';
import { createDatabase } from '../../../lib/store/database.ts';

const ITEMS = Array.from({ length: 7 }, (_, n) => ({ n }));
const PIECE = 3;
const RANGE = { value: 'p' };

/** A table of seven items of which a query gets three at most, and the limits that it was asked with. */
function givenTable() {
  const limits: (number | undefined)[] = [];
  async function send({ input }: QueryCommand) {
    const { ExclusiveStartKey, Limit, Select } = input;
    limits.push(Limit);
    const from = ExclusiveStartKey ? Number(ExclusiveStartKey.n) + 1 : 0;
    const piece = ITEMS.slice(from, from + Math.min(Limit ?? PIECE, PIECE));
    const last = piece.at(-1);
    return {
      Count: piece.length,
      ...(Select === 'COUNT' ? {} : { Items: piece }),
      ...(last && last.n < ITEMS.length - 1 ? { LastEvaluatedKey: last } : {}),
    };
  }
  const client = { send } as unknown as Parameters<typeof createDatabase>[0]['client'];
  return {
    limits,
    database: createDatabase({ client, tableName: 't', retryPolicy: DEFAULT_RETRY_POLICY }),
  };
}

describe('query', () => {
  test('gets a range to its end', async () => {
    const { database, limits } = givenTable();
    expect(await database.query(RANGE)).toEqual(ITEMS);
    expect(limits).toEqual([undefined, undefined, undefined]);
  });

  test.each([
    [2, [2]],
    [3, [3]],
    [5, [5, 2]],
    [9, [9, 6, 3]],
  ])('gets %i items at most, and asks for no more', async (limit, asked) => {
    const { database, limits } = givenTable();
    expect(await database.query(RANGE, limit)).toEqual(ITEMS.slice(0, limit));
    expect(limits).toEqual(asked);
  });

  test('goes on after a position', async () => {
    expect(await givenTable().database.query(RANGE, 4, { n: 1 })).toEqual(ITEMS.slice(2, 6));
  });
});

test('each gets a range to its end', async () => {
  expect(await Array.fromAsync(givenTable().database.each(RANGE))).toEqual(ITEMS);
});

describe('countOver', () => {
  test.each([
    [2, { n: 1 }],
    [5, { n: 4 }],
    [7, undefined],
    [9, undefined],
  ])('after %i items stands at %o', async (count, position) => {
    expect(await givenTable().database.countOver(RANGE, count)).toEqual(position);
  });
});
