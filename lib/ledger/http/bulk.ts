// Bulk requests. Each record is applied or refused independently. The response has one result for each record, in the same
// order.

import { logFailure } from '../../shared/log.ts';
import type { IdempotencyMarker, Outcome, WithIdempotencyMarker } from '../service/bulk.ts';
import type { TransactionResult } from './api-types.ts';
import { getFailureMessage } from './endpoint.ts';
import { toErrorReply } from './error-reply.ts';
import { markReplayed, readKeyedRequest, type WriteEvent } from './idempotency.ts';
import type { JsonObject } from './json-body.ts';
import type { Operation, Reply } from './replies.ts';

export interface BulkOperation<Event, Fields extends object, Value, CountName extends string> {
  /**
   * Reads the items of the body.
   * @throws ValidationError for an invalid body; this response is not stored under an idempotency key
   */
  readonly parseItems: (json: JsonObject) => readonly unknown[];
  /** @throws ValidationError for an invalid item; the other items are still applied */
  readonly parseItem: (item: unknown) => Fields;
  readonly apply: (
    event: Event,
    items: readonly (Fields & WithIdempotencyMarker<Value>)[],
  ) => Promise<readonly Outcome<Value>[]>;
  /** Creates the reply that a request for this item alone would get. */
  readonly toReply: (value: Value) => Reply<ItemBody>;
  /** Names of the counts in the response, by the status that they count. Every other status counts as failed. */
  readonly countNames: Readonly<Record<number, CountName>>;
  /** The same operation on a single record. An item that fails unexpectedly (500) gets the failure message of this operation. */
  readonly itemOperation: Operation;
}

type ItemBody = Pick<TransactionResult, 'id' | 'etag'>;

/** Handles a request with many records. With an idempotency key, no record is applied twice. */
export function handleBulk<
  Event extends WriteEvent,
  Fields extends object,
  Value,
  CountName extends string,
>(operation: BulkOperation<Event, Fields, Value, CountName>) {
  return async (event: Event): Promise<Reply<BulkResponseBody<CountName>>> => {
    const items = operation.parseItems(event.json);
    const keyedRequest = readKeyedRequest(event);
    const request = await event.ledger.idempotency.beginBulk(keyedRequest);
    const isReplayed = request.earlierReply !== undefined;
    const outcomes = await request.restoreReplies(
      request.earlierReply
        ? readOutcomes(request.earlierReply)
        : await applyItems(operation, event, items, (index) =>
            request.createMarker(index, operation.toReply),
          ),
    );
    const { requestId } = event.context;
    const failure = getFailureMessage(operation.itemOperation);
    const { countNames } = operation;
    const { reply, isFinal } = composeReply(outcomes, { countNames, failure, requestId });
    if (isReplayed) return markReplayed(reply);
    if (isFinal) await request.save(reply);
    return reply;
  };
}

/** Counts of the items by their outcome, and the result of each item. */
interface BulkResponseBody<CountName extends string> {
  readonly success: boolean;
  readonly data: Readonly<Record<CountName | 'failed', number>> & {
    readonly results: readonly TransactionResult[];
  };
  readonly [name: string]: unknown;
}

/**
 * Applies the valid items.
 * @returns an outcome for each item
 */
async function applyItems<Event, Fields extends object, Value>(
  {
    parseItem,
    apply,
    toReply,
  }: Pick<BulkOperation<Event, Fields, Value, never>, 'parseItem' | 'apply' | 'toReply'>,
  event: Event,
  items: readonly unknown[],
  createMarker: (index: number) => IdempotencyMarker<Value> | undefined,
): Promise<Outcome<Reply>[]> {
  const parsedItems = items.map((item, index): Outcome<Fields & WithIdempotencyMarker<Value>> => {
    try {
      return { value: { ...parseItem(item), marker: createMarker(index) } };
    } catch (error) {
      return { error };
    }
  });
  const validItems = parsedItems.flatMap((each) => ('value' in each ? [each.value] : []));
  const appliedOutcomes = (await apply(event, validItems)).values();
  return parsedItems.map((each) => {
    const outcome = 'error' in each ? each : (appliedOutcomes.next().value ?? { error: undefined });
    return 'value' in outcome ? { value: toReply(outcome.value) } : outcome;
  });
}

/**
 * Composes the reply. It is final unless a retry may apply more items.
 * @throws the first unexpected error if no item was applied
 */
function composeReply<CountName extends string>(
  outcomes: readonly Outcome<Reply>[],
  options: {
    readonly countNames: Readonly<Record<number, CountName>>;
    readonly failure: string;
    readonly requestId: string;
  },
): { readonly reply: Reply<BulkResponseBody<CountName>>; readonly isFinal: boolean } {
  const { countNames, failure, requestId } = options;
  const replies = outcomes.map((outcome) => replyToItem(outcome, failure));
  const unexpectedErrors = outcomes.flatMap((outcome, index) =>
    'error' in outcome && isUnexpected(replies[index]) ? [outcome.error] : [],
  );
  const isFinal = unexpectedErrors.length === 0;
  if (!isFinal && outcomes.every((outcome) => 'error' in outcome)) throw unexpectedErrors[0];
  for (const cause of unexpectedErrors) logFailure({ requestId, failure, cause });
  const results = replies.map(toResult);
  const countResults = (name: string) =>
    results.filter(({ status }) => (countNames[status] ?? 'failed') === name).length;
  const countedNames: (CountName | 'failed')[] = [
    ...Object.values<CountName>(countNames),
    'failed',
  ];
  const countsByName = Object.fromEntries(countedNames.map((name) => [name, countResults(name)]));
  const data = { ...(countsByName as Record<CountName | 'failed', number>), results };
  return { reply: { status: 207, body: { success: true, data } }, isFinal };
}

/** True for a failure after which a retry may succeed. */
function isUnexpected(reply: Reply | undefined): boolean {
  return reply !== undefined && reply.status >= 500;
}

function replyToItem(outcome: Outcome<Reply>, failure: string): Reply {
  if ('value' in outcome) return outcome.value;
  const { error } = outcome;
  return error instanceof EarlierRefusal ? error.reply : toErrorReply(error, failure);
}

function toResult({ status, body, headers }: Reply, index: number): TransactionResult {
  const { success: _, ...result } = body;
  const etag = headers?.etag;
  return { index, status, ...result, ...(etag && { etag }) };
}

/** An earlier attempt of the request refused the item with this reply. */
class EarlierRefusal extends Error {
  override readonly name = 'EarlierRefusal';
  readonly reply: Reply;

  constructor(reply: Reply) {
    super('An earlier attempt refused the item');
    this.reply = reply;
  }
}

/** Reads the outcomes from a reply of `composeReply`. */
function readOutcomes({ body }: Pick<Reply, 'body'>): Outcome<Reply>[] {
  const { results } = body.data as {
    results: readonly { readonly index: number; readonly status: number }[];
  };
  return results.map(({ index: _, status, ...result }) => {
    const reply = { status, body: result };
    return status < 400 ? { value: reply } : { error: new EarlierRefusal(reply) };
  });
}
