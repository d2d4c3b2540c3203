// Queries whose results DynamoDB returns in pages, and transactions whose responses are lost.
import type { QueryCommand } from '@aws-sdk/client-dynamodb';
import { GetCommand, type TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { createDatabase, type Item } from '../../../lib/shared/database.ts';
import { BusyError, OutcomeUnknownError } from '../../../lib/shared/errors.ts';
import { createSleeplessRetryPolicy } from '../support/sleepless-retry-policy.ts';

type Options = Parameters<typeof createDatabase>[0];

function openWith(send: unknown, options: Pick<Options, 'limits' | 'timeoutSignal'> = {}) {
  const client = { send } as Options['client'];
  const retryPolicy = createSleeplessRetryPolicy();
  return createDatabase({ client, tableName: 't', retryPolicy, ...options });
}

const ITEMS = Array.from({ length: 7 }, (_, n) => ({ n }));
const onWire = (n: number) => ({ n: { N: String(n) } });
const MAX_PAGE_ITEMS = 3;
const RANGE = { value: 'p' };

/** Creates a table of seven items that returns at most three for a query, and records the limits of the queries. */
function createTable() {
  const limits: (number | undefined)[] = [];
  async function send({ input }: QueryCommand) {
    const { ExclusiveStartKey, Limit, Select } = input;
    limits.push(Limit);
    const from = ExclusiveStartKey ? Number(ExclusiveStartKey.n?.N) + 1 : 0;
    const page = ITEMS.slice(from, from + Math.min(Limit ?? MAX_PAGE_ITEMS, MAX_PAGE_ITEMS));
    const last = page.at(-1);
    return {
      Count: page.length,
      ...(Select === 'COUNT' ? {} : { Items: page.map(({ n }) => onWire(n)) }),
      ...(last && last.n < ITEMS.length - 1 ? { LastEvaluatedKey: onWire(last.n) } : {}),
    };
  }
  return { limits, database: openWith(send) };
}

describe('query', () => {
  test('reads a range to its end', async () => {
    const { database, limits } = createTable();
    expect(await database.query(RANGE)).toEqual(ITEMS);
    expect(limits).toEqual([undefined, undefined, undefined]);
  });

  test.each([
    [2, [2]],
    [9, [9, 6, 3]],
  ])('reads at most %i items, and requests no more', async (limit, requestedLimits) => {
    const { database, limits } = createTable();
    expect(await database.query(RANGE, limit)).toEqual(ITEMS.slice(0, limit));
    expect(limits).toEqual(requestedLimits);
  });

  test('resumes after a position', async () => {
    expect(await createTable().database.query(RANGE, 4, onWire(1))).toEqual(ITEMS.slice(2, 6));
  });
});

test('scan reads the table to its end, consistently', async () => {
  const { database, limits } = createTable();
  expect(await Array.fromAsync(database.scan('home#'))).toEqual(ITEMS);
  expect(limits).toHaveLength(3);
});

test('a query requests only the projected attributes, and a count none', async () => {
  const requests: QueryCommand['input'][] = [];
  const database = openWith(async ({ input }: QueryCommand) => {
    requests.push(input);
    return { Items: [], Count: 0 };
  });
  const range = { ...RANGE, projection: ['type', 'n'] };
  await database.query(range);
  await database.findPositionAfter(range, 1);
  expect(requests[0]).toMatchObject({
    ProjectionExpression: '#a0,#a1',
    ExpressionAttributeNames: { '#a0': 'type', '#a1': 'n' },
  });
  expect(requests[1]?.ProjectionExpression).toBeUndefined();
});

describe('findPositionAfter', () => {
  test.each([
    [2, onWire(1)],
    [5, onWire(4)],
    [9, undefined],
  ])('returns the position after %i items: %o', async (count, position) => {
    expect(await createTable().database.findPositionAfter(RANGE, count)).toEqual(position);
  });
});

describe('commit', () => {
  const LOST = Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
  const REFUSED = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const CANCELLED = Object.assign(new Error('cancelled'), {
    name: 'TransactionCanceledException',
    CancellationReasons: [{ Code: 'ConditionalCheckFailed' }],
  });

  /** Creates a table whose transactions fail with each error in turn; `stored` is the record that is read back. */
  function createFailingDatabase(
    errors: readonly Error[],
    stored: Item | 'unreadable' = {},
    { lostReads = 0 } = {},
  ) {
    const tokens: unknown[] = [];
    const reads: unknown[] = [];
    async function send(command: GetCommand | TransactWriteCommand) {
      if (command instanceof GetCommand) {
        reads.push(command.input.Key);
        if (stored === 'unreadable' || reads.length <= lostReads) throw LOST;
        return { Item: stored };
      }
      tokens.push(command.input.ClientRequestToken);
      throw errors[tokens.length - 1] ?? errors.at(-1);
    }
    const database = openWith(send);
    const write = { Delete: { Key: { pk: 'p' } }, onConditionFailed: () => new Error('stale') };
    const check = {
      key: { pk: 'p', sk: 's' },
      wasApplied: (item?: Item) => item?.applied as boolean | undefined,
    };
    return {
      tokens,
      reads,
      commit: (hasCheck = true) => database.commit([write], hasCheck ? check : undefined),
    };
  }

  test('succeeds if all responses are lost, including some to the check, and the record shows that the transaction was applied', async () => {
    const { commit, reads } = createFailingDatabase([LOST], { applied: true }, { lostReads: 2 });
    await commit();
    expect(reads).toEqual(Array(3).fill({ pk: 'p', sk: 's' }));
  });

  test('fails with the last error if the record shows that the transaction was not applied', async () => {
    const { commit } = createFailingDatabase([LOST, REFUSED], { applied: false });
    await expect(commit()).rejects.toBe(REFUSED);
  });

  test.each<[string, Item | 'unreadable']>([
    ['does not show whether it was applied', {}],
    ['cannot be read', 'unreadable'],
  ])('fails with an unknown outcome if the record %s', async (_, stored) => {
    const error = await createFailingDatabase([LOST], stored)
      .commit()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({ cause: LOST });
  });

  test.each<[string, Error[], string, hasCheck?: false]>([
    ['the database was not reached', [REFUSED], 'refused'],
    ['a retry finds a failed condition', [LOST, CANCELLED], 'stale'],
    ['there is no check', [LOST], 'aborted', false],
  ])('reads nothing back if %s', async (_, errors, message, hasCheck) => {
    const { commit, reads } = createFailingDatabase(errors, { applied: true });
    await expect(commit(hasCheck)).rejects.toThrow(message);
    expect(reads).toEqual([]);
  });

  const busy = (...codes: readonly string[]) =>
    Object.assign(new Error('cancelled'), {
      name: 'TransactionCanceledException',
      CancellationReasons: codes.map((Code) => ({ Code })),
    });

  /** Commits two writes, the second of which has its own error for a busy item. @returns the error */
  async function commitBusyItem(error: Error): Promise<unknown> {
    const database = openWith(() => Promise.reject(error));
    const write = { Delete: { Key: { pk: 'p' } }, onConditionFailed: () => new Error('stale') };
    const onBusy = (cause: unknown) => new BusyError('busy', { cause });
    return await database.commit([write, { ...write, onBusy }]).catch((thrown: unknown) => thrown);
  }

  test('fails with the error of the write whose item another transaction was writing', async () => {
    const cause = busy('None', 'TransactionConflict');
    expect(await commitBusyItem(cause)).toMatchObject({ name: 'BusyError', cause });
  });

  test.each([
    ['the item of another write is busy', busy('TransactionConflict', 'None')],
    ['the item is throttled', busy('None', 'ThrottlingError')],
  ])('fails with the error of the call if %s', async (_, error) => {
    expect(await commitBusyItem(error)).toBe(error);
  });

  test('says which condition failed rather than which item is busy', async () => {
    const error = await commitBusyItem(busy('ConditionalCheckFailed', 'TransactionConflict'));
    expect(error).toMatchObject({ message: 'stale' });
  });

  test('sends the same request token at every attempt', async () => {
    const { commit, tokens } = createFailingDatabase([LOST, LOST, REFUSED], { applied: true });
    await commit();
    expect(tokens.length).toBeGreaterThan(2);
    expect(tokens).toEqual(tokens.map(() => expect.any(String)));
    expect(new Set(tokens).size).toBe(1);
  });
});

test('every attempt has its own signal, which aborts with the request', async () => {
  const timeouts: AbortController[] = [];
  const request = new AbortController();
  const signals: AbortSignal[] = [];
  async function send(_: unknown, { abortSignal }: { abortSignal: AbortSignal }) {
    signals.push(abortSignal);
    if (signals.length === 1) throw Object.assign(new Error(), { name: 'AbortError' });
    return {};
  }
  const database = openWith(send, {
    limits: { deadline: 1_000, signal: request.signal },
    timeoutSignal: () => {
      const timeout = new AbortController();
      timeouts.push(timeout);
      return timeout.signal;
    },
  });
  await database.get({ pk: 'p', sk: 's' });
  timeouts[0]?.abort();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  request.abort();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});
