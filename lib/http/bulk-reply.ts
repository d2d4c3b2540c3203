// The reply to a request of many records: one result for each, in the order of the request.
import { logFailure } from '../log.ts';
import { toErrorReply } from './error-reply.ts';
import type { Reply } from './replies.ts';

/** What the client sees of one record, besides its position. */
export type ItemResult = Readonly<Record<string, unknown>> & { readonly status: number };

export interface ItemOutcome {
  readonly result: ItemResult;
  /** Of a failure. */
  readonly cause?: unknown;
}

export interface BulkWords {
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

export function toFailedItem(error: unknown, { failure }: BulkWords): ItemOutcome {
  const { status, body } = toErrorReply(error, failure);
  const { success: _, ...reason } = body;
  return { result: { status, ...reason }, cause: error };
}

/** @throws the cause where nothing could be applied because the database failed */
export function bulkReply(
  outcomes: readonly ItemOutcome[],
  { counted, failure, requestId }: BulkWords & { readonly requestId: string },
): Reply {
  const unexpected = outcomes.filter(isUnexpected);
  if (unexpected.length > 0 && !outcomes.some(isApplied)) throw unexpected[0]?.cause;
  for (const { cause } of unexpected) logFailure({ requestId, failure, cause });
  const results = outcomes.map(({ result }, index) => ({ index, ...result }));
  const countOf = (name: string) =>
    results.filter(({ status }) => (counted[status] ?? 'failed') === name).length;
  const counts = [...Object.values(counted), 'failed'].map((name) => [name, countOf(name)]);
  return { status: 207, body: { success: true, data: { ...Object.fromEntries(counts), results } } };
}

interface ParsedItem<Fields> {
  readonly index: number;
  readonly fields: Fields;
}

/** An outcome for each body of a request: only those that are valid are run. */
export async function runValid<Fields>(
  bodies: readonly unknown[],
  { parse, ...words }: BulkWords & { readonly parse: (body: unknown) => Fields },
  run: (items: readonly ParsedItem<Fields>[]) => Promise<readonly ItemOutcome[]>,
): Promise<ItemOutcome[]> {
  const outcomes = new Map<number, ItemOutcome>();
  const items: ParsedItem<Fields>[] = [];
  for (const [index, body] of bodies.entries()) {
    try {
      items.push({ index, fields: parse(body) });
    } catch (error) {
      outcomes.set(index, toFailedItem(error, words));
    }
  }
  for (const [n, outcome] of (await run(items)).entries()) {
    const index = items[n]?.index;
    if (index !== undefined) outcomes.set(index, outcome);
  }
  return [...outcomes].sort(([one], [other]) => one - other).map(([, outcome]) => outcome);
}
