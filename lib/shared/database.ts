// The calls to DynamoDB that the stores use. Transient errors are retried.
import { randomUUID } from 'node:crypto';
import {
  type AttributeValue,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { decodeItem, type WireItem } from './document-client.ts';
import { OutcomeUnknownError } from './errors.ts';
import { type RetryPolicy, retry } from './retry.ts';
import { isOutcomeUnknown, isRetryable } from './retryable-errors.ts';

/** Primary key of an item. */
export interface Key extends Record<string, string> {
  readonly pk: string;
  readonly sk: string;
}

/** Limits that every call to the database respects. */
export interface RequestLimits {
  /** Latest start of a call, in milliseconds of the retry policy's clock. */
  readonly deadline: number;
  /** Aborts at the deadline. */
  readonly signal: AbortSignal;
  /** Called with each error after which a call is retried. */
  readonly onRetry?: (error: unknown) => void;
}

export type Item = Record<string, unknown>;
/** The position from which a query continues. */
export type Position = WireItem;

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];
type WithoutTable<Write> = Omit<NonNullable<Write>, 'TableName'>;

/** The write of one item, as a part of an atomic commit. */
export type Write = {
  readonly [Kind in 'Put' | 'Update' | 'Delete' | 'ConditionCheck']?: WithoutTable<
    TransactItem[Kind]
  >;
} & {
  /** Maps a failed condition to an error, given the current item. */
  readonly onConditionFailed: (existing: Item | undefined) => Error;
  /** Maps a conflict with another transaction that lasted until the deadline. Without it, the call's own error is thrown. */
  readonly onBusy?: (cause: unknown) => Error;
};

/** A key range of one partition of the table or of an index. */
export interface Range {
  readonly index?: string;
  readonly attribute?: string;
  readonly value: string;
  /** First and last sort key, inclusive; the whole partition if not given. */
  readonly between?: readonly [string, string];
  readonly sortKey?: string;
  readonly descending?: boolean;
  readonly consistent?: boolean;
  /** Attributes to fetch; all of them if not given. A selection saves time, not capacity. */
  readonly projection?: readonly string[] | undefined;
}

/** Decides from a stored item whether writes were applied. */
export interface OutcomeCheck {
  readonly key: Key;
  /** Returns undefined if the item cannot tell, because another request has changed it since. */
  readonly wasApplied: (stored: Item | undefined) => boolean | undefined;
}

export interface Timeouts {
  /** Limit of one call, in milliseconds. */
  readonly callMs: number;
  /** Limit of an outcome check with its retries; it may start as late as the deadline. */
  readonly outcomeMs: number;
  /** Limit of one call of an outcome check. */
  readonly outcomeCallMs: number;
}

const DEFAULT_TIMEOUTS: Timeouts = { callMs: 3_000, outcomeMs: 3_000, outcomeCallMs: 1_000 };

/** For commands and tests, where no client waits: long enough that even a busy machine stays within these limits. */
export const LONG_TIMEOUTS: Timeouts = { callMs: 60_000, outcomeMs: 60_000, outcomeCallMs: 10_000 };

export type Database = ReturnType<typeof createDatabase>;

interface SendOptions {
  readonly abortSignal: AbortSignal;
}

export function createDatabase(options: {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly retryPolicy: RetryPolicy;
  /** Limits of the request to which all calls belong; without a request, each call has the policy's own deadline. */
  readonly limits?: RequestLimits;
  readonly timeouts?: Timeouts;
  /** Makes a signal that aborts after a number of milliseconds. */
  readonly timeoutSignal?: (milliseconds: number) => AbortSignal;
}) {
  const { client, tableName: TableName, retryPolicy, timeouts = DEFAULT_TIMEOUTS } = options;
  const { timeoutSignal = (milliseconds: number) => AbortSignal.timeout(milliseconds) } = options;

  /** Retries a call; each attempt has a signal that aborts it, even in the middle of a response. */
  function attempt<Result>(
    call: (options: SendOptions) => Promise<Result>,
    { limits, callMs } = { limits: options.limits, callMs: timeouts.callMs },
  ): Promise<Result> {
    const send = () => {
      const timeout = timeoutSignal(callMs);
      return call({ abortSignal: limits ? AbortSignal.any([limits.signal, timeout]) : timeout });
    };
    return retry(retryPolicy, isRetryable, send, limits?.deadline);
  }

  /** Reads one item, strongly consistent by default. */
  async function get(key: Key, { consistent = true } = {}): Promise<Item | undefined> {
    const input = { TableName, Key: key, ConsistentRead: consistent };
    return (await attempt((options) => client.send(new GetCommand(input), options))).Item;
  }

  /** Reads the items of a range, up to a limit if given, from the start or after a position in the range. */
  async function query(
    range: Range,
    limit = Number.POSITIVE_INFINITY,
    after?: Position,
  ): Promise<Item[]> {
    const items: Item[] = [];
    let from = after;
    do {
      const input = { ...toQuery(TableName, range, limit - items.length), ExclusiveStartKey: from };
      const page = await attempt((options) => client.send(new QueryCommand(input), options));
      for (const item of page.Items ?? []) items.push(decodeItem(item));
      from = page.LastEvaluatedKey;
    } while (from && items.length < limit);
    return items;
  }

  /** Reads as many items of a range as one call returns (1 MB), and the position of the last one if there are more. */
  async function queryOnce(
    range: Range,
    after?: Position,
  ): Promise<{ items: Item[]; end?: Position | undefined }> {
    const input = { ...toQuery(TableName, range), ExclusiveStartKey: after };
    const page = await attempt((options) => client.send(new QueryCommand(input), options));
    return { items: (page.Items ?? []).map(decodeItem), end: page.LastEvaluatedKey };
  }

  /**
   * Reads all items of the table, or those whose partition key starts with a prefix, strongly consistent, with one page in
   * memory at a time. Costs the read units of the whole table.
   */
  async function* scan(prefix?: string): AsyncGenerator<Item> {
    const filter = prefix !== undefined && {
      FilterExpression: 'begins_with(pk, :prefix)',
      ExpressionAttributeValues: { ':prefix': { S: prefix } },
    };
    let from: Position | undefined;
    do {
      const input = {
        TableName,
        ConsistentRead: true,
        ...filter,
        ExclusiveStartKey: from,
      };
      const page = await attempt((options) => client.send(new ScanCommand(input), options));
      for (const item of page.Items ?? []) yield decodeItem(item);
      from = page.LastEvaluatedKey;
    } while (from);
  }

  /** Finds the position after a number of items of a range without fetching them; undefined at the end of the range. */
  async function findPositionAfter(range: Range, count: number): Promise<Position | undefined> {
    let countedItems = 0;
    let from: Position | undefined;
    do {
      const query = toQuery(TableName, { ...range, projection: undefined }, count - countedItems);
      const input = { ...query, Select: 'COUNT' as const, ExclusiveStartKey: from };
      const page = await attempt((options) => client.send(new QueryCommand(input), options));
      countedItems += page.Count ?? 0;
      from = page.LastEvaluatedKey;
    } while (from && countedItems < count);
    return from;
  }

  /**
   * Adds to a counter outside of any transaction, and returns its new value. An addition whose response was lost is retried, so
   * values may be skipped, but none is returned twice.
   * @returns undefined if the condition does not hold
   */
  async function increment(
    key: Key,
    attribute: string,
    count: number,
    condition?: { readonly expression: string; readonly values: Item },
  ): Promise<number | undefined> {
    const input = {
      TableName,
      Key: key,
      UpdateExpression: 'ADD #counter :count',
      ExpressionAttributeNames: { '#counter': attribute },
      ExpressionAttributeValues: { ':count': count, ...condition?.values },
      ConditionExpression: condition?.expression,
      ReturnValues: 'UPDATED_NEW' as const,
    };
    try {
      const { Attributes } = await attempt((options) =>
        client.send(new UpdateCommand(input), options),
      );
      return Number(Attributes?.[attribute]);
    } catch (error) {
      if ((error as Error).name === 'ConditionalCheckFailedException') return undefined;
      throw error;
    }
  }

  /**
   * Applies all writes or none. Retries carry the same request token, so that a write whose response was lost is not applied twice.
   * @param check used when all responses are lost
   * @throws the `onConditionFailed` error of the first write whose condition did not hold, or the `onBusy` error of the first
   *   write whose item was busy; OutcomeUnknownError
   */
  async function commit(writes: readonly Write[], check?: OutcomeCheck): Promise<void> {
    const input = {
      ClientRequestToken: randomUUID(),
      TransactItems: writes.map((write) => toTransactItem(TableName, write)),
    };
    let mayBeApplied = false;
    const send = async (options: SendOptions) => {
      try {
        await client.send(new TransactWriteCommand(input), options);
      } catch (error) {
        mayBeApplied ||= isOutcomeUnknown(error);
        throw error;
      }
    };
    try {
      await attempt(send);
    } catch (error) {
      const conditionError = findConditionError(writes, error);
      if (conditionError) throw conditionError;
      if (mayBeApplied && check && (await wasApplied(check, error))) return;
      throw findBusyError(writes, error) ?? error;
    }
  }

  async function wasApplied(check: OutcomeCheck, cause: unknown): Promise<boolean> {
    const { outcomeMs, outcomeCallMs: callMs } = timeouts;
    const limits = { deadline: retryPolicy.now() + outcomeMs, signal: timeoutSignal(outcomeMs) };
    const input = { TableName, Key: check.key, ConsistentRead: true };
    const send = (options: SendOptions) => client.send(new GetCommand(input), options);
    const reading = attempt(send, { limits, callMs });
    const applied = await reading.then(
      ({ Item }) => check.wasApplied(Item),
      () => undefined,
    );
    if (applied === undefined) {
      throw new OutcomeUnknownError('The writes may have been applied', { cause });
    }
    return applied;
  }

  return { get, query, queryOnce, scan, findPositionAfter, increment, commit };
}

function toQuery(
  TableName: string,
  range: Range,
  limit = Number.POSITIVE_INFINITY,
): QueryCommandInput {
  const { index, attribute = 'pk', value, between, sortKey = 'sk', projection = [] } = range;
  const names: Record<string, string> = { '#partition': attribute };
  const values: Record<string, AttributeValue> = { ':partition': { S: value } };
  if (between) {
    const [first, last] = between;
    names['#sort'] = sortKey;
    Object.assign(values, { ':first': { S: first }, ':last': { S: last } });
  }
  projection.forEach((name, n) => {
    names[`#a${n}`] = name;
  });
  return {
    TableName,
    IndexName: index,
    KeyConditionExpression: between
      ? '#partition = :partition AND #sort BETWEEN :first AND :last'
      : '#partition = :partition',
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
    ProjectionExpression:
      projection.length > 0 ? projection.map((_, n) => `#a${n}`).join() : undefined,
    ScanIndexForward: !range.descending,
    ConsistentRead: range.consistent,
    Limit: Number.isFinite(limit) ? limit : undefined,
  };
}

function toTransactItem(
  TableName: string,
  { onConditionFailed: _, onBusy: __, ...write }: Write,
): TransactItem {
  const entries = Object.entries(write).map(([kind, part]) => [
    kind,
    { ...part, TableName, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' },
  ]);
  return Object.fromEntries(entries);
}

interface Cancellation {
  readonly CancellationReasons?: readonly {
    readonly Code?: string;
    readonly Item?: WireItem;
  }[];
}

function findBusyError(writes: readonly Write[], error: unknown): Error | undefined {
  const { CancellationReasons: reasons = [] } = error as Cancellation;
  const isBusy = (position: number) => reasons[position]?.Code === 'TransactionConflict';
  return writes.find(({ onBusy }, position) => onBusy && isBusy(position))?.onBusy?.(error);
}

function findConditionError(writes: readonly Write[], error: unknown): Error | undefined {
  const { CancellationReasons: reasons = [] } = error as Cancellation;
  const position = reasons.findIndex(({ Code }) => Code === 'ConditionalCheckFailed');
  const existing = reasons[position]?.Item;
  // The document client does not decode this item.
  return writes[position]?.onConditionFailed(existing && decodeItem(existing));
}
