// Requests of many records: each is applied or refused by itself, and the reply has one result for each, in their order.

import type { Write } from '../../shared/database.ts';
import { logFailure } from '../../shared/log.ts';
import type { Outcome } from '../service/bulk.ts';
import { toErrorReply } from './error-reply.ts';
import type { JsonObject } from './json-body.ts';
import type { Reply } from './replies.ts';

/** Result for one record in the reply, without its position. */
export type ItemResult = Readonly<Record<string, unknown>> & { readonly status: number };

export interface ItemOutcome {
  readonly result: ItemResult;
  /** The error behind a failure. */
  readonly cause?: unknown;
}

/** Effect of an idempotency key on one record; empty without a key. */
export interface ItemMarker<Value> {
  /** The writes that remember it, of the database transaction that applies it. */
  readonly alsoWrite?: (value: Value) => readonly Write[];
  readonly wasApplied?: () => Promise<boolean>;
}

export interface BulkOperation<Event, Fields extends object, Value> {
  /** The items of the body. @throws ValidationError for a body of another form, which no key remembers */
  readonly items: (json: JsonObject) => readonly unknown[];
  /** @throws ValidationError for an item, which does not refuse the others */
  readonly parse: (item: unknown) => Fields;
  readonly apply: (
    event: Event,
    items: readonly (Fields & ItemMarker<Value>)[],
  ) => Promise<readonly Outcome<Value>[]>;
  readonly toResult: (value: Value) => ItemResult;
  /** How the records of a status are counted; all others have failed. */
  readonly counted: Readonly<Record<number, string>>;
  /** The message of the 500 of one record. */
  readonly failure: string;
}

export function isApplied({ result }: ItemOutcome): boolean {
  return result.status < 400;
}

/** A repetition may succeed. */
export function isUnexpected({ result }: ItemOutcome): boolean {
  return result.status >= 500;
}

export function toFailedItem(error: unknown, failure: string): ItemOutcome {
  const { status, body, headers } = toErrorReply(error, failure);
  const { success: _, ...reason } = body;
  const etag = headers?.etag;
  return { result: { status, ...reason, ...(etag && { etag }) }, cause: error };
}

/** An outcome for each item: only those that are valid are applied. */
export async function applyItems<Event, Fields extends object, Value>(
  { parse, apply, toResult, failure }: BulkOperation<Event, Fields, Value>,
  event: Event,
  items: readonly unknown[],
  markerOf: (index: number) => ItemMarker<Value> = () => ({}),
): Promise<ItemOutcome[]> {
  const parsed = items.map((item, index): Outcome<Fields & ItemMarker<Value>> => {
    try {
      return { value: { ...parse(item), ...markerOf(index) } };
    } catch (error) {
      return { error };
    }
  });
  const valid = parsed.flatMap((each) => ('value' in each ? [each.value] : []));
  const applied = (await apply(event, valid)).values();
  return parsed.map((each) => {
    const outcome = 'error' in each ? each : applied.next().value;
    if (outcome && 'value' in outcome) return { result: toResult(outcome.value) };
    return toFailedItem(outcome?.error, failure);
  });
}

/** @throws the cause where nothing could be applied because the database failed */
export function bulkReply(
  outcomes: readonly ItemOutcome[],
  options: {
    readonly counted: Readonly<Record<number, string>>;
    readonly failure: string;
    readonly requestId: string;
  },
): Reply {
  const { counted, failure, requestId } = options;
  const unexpected = outcomes.filter(isUnexpected);
  if (unexpected.length > 0 && !outcomes.some(isApplied)) throw unexpected[0]?.cause;
  for (const { cause } of unexpected) logFailure({ requestId, failure, cause });
  const results = outcomes.map(({ result }, index) => ({ index, ...result }));
  const countStatus = (name: string) =>
    results.filter(({ status }) => (counted[status] ?? 'failed') === name).length;
  const counts = [...Object.values(counted), 'failed'].map((name) => [name, countStatus(name)]);
  return { status: 207, body: { success: true, data: { ...Object.fromEntries(counts), results } } };
}
