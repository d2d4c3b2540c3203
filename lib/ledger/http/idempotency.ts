// The Idempotency-Key header of a request that creates, or that changes or deletes many records: a client that heard no
// response sends the request again, and nothing is applied twice. A replay has the status, body and ETag of the first
// response, and `Idempotent-Replayed: true`.
import { createHash } from 'node:crypto';
import type { Write } from '../../shared/database.ts';
import {
  ConflictError,
  RequestInProgressError,
  RequestRepeatedError,
  ValidationError,
} from '../errors.ts';
import { keyReused, type RecordedReply } from '../store/idempotency.ts';
import {
  applyItems,
  type BulkOperation,
  bulkReply,
  type ItemMarker,
  type ItemOutcome,
  type ItemResult,
  isApplied,
  isUnexpected,
  toFailedItem,
} from './bulk-reply.ts';
import type { LedgerEvent } from './endpoint.ts';
import type { JsonObject } from './json-body.ts';
import type { Reply } from './replies.ts';

/** The writes that record a reply; they belong into the transaction of what the reply is about. */
export type RecordReply = (reply: Reply) => readonly Write[];

type WriteEvent = LedgerEvent & { readonly json: JsonObject };

// Accepts a bare value, as most APIs do, or the quoted string of the IETF draft.
export const IDEMPOTENCY_KEY =
  /^(?:"([\x20-\x21\x23-\x7e]{1,255})"|([\x21\x23-\x7e][\x20-\x7e]{0,254}))$/;

/** @param create makes the record and its reply; it commits the writes of `record` together with the record */
export function idempotent<Event extends WriteEvent>(
  create: (event: Event, record: RecordReply) => Promise<Reply>,
): (event: Event) => Promise<Reply> {
  return async (event) => {
    const key = readKey(event);
    if (key === undefined) return await create(event, () => []);
    const { idempotency } = event.ledger;
    const fingerprint = hash(canonicalJson(event.json));
    const recorded = await idempotency.find(key);
    if (recorded) return replay(recorded, fingerprint);
    try {
      return await create(event, (reply) => [idempotency.record(key, { ...reply, fingerprint })]);
    } catch (error) {
      // The same request may have been applied meanwhile; its name may be what is taken now. If that cannot be read, a
      // conflict proves nothing; any other error says more than the failure of this read.
      const other = await idempotency.find(key).catch((failure: unknown) => {
        if (error instanceof ConflictError) throw failure;
        return undefined;
      });
      if (other) return replay(other, fingerprint);
      throw isBusy(error)
        ? new RequestInProgressError('A request with this key is running')
        : error;
    }
  };
}

/**
 * The same for a request of many records, in more than one transaction. The key is bound to the body before anything is
 * written. Each record has a marker of its own, which outranks every later refusal: a repetition of a request that was
 * interrupted applies the rest, and answers with the first results of the others, even if they have changed since.
 */
export function idempotentItems<Event extends WriteEvent, Fields extends object, Value>(
  operation: BulkOperation<Event, Fields, Value>,
): (event: Event) => Promise<Reply> {
  const { items: listItems, toResult, counted, failure } = operation;
  return async (event) => {
    const items = listItems(event.json);
    const { requestId } = event.context;
    const reply = (outcomes: readonly ItemOutcome[]) =>
      bulkReply(outcomes, { counted, failure, requestId });
    const key = readKey(event);
    if (key === undefined) return reply(await applyItems(operation, event, items));

    const { idempotency } = event.ledger;
    const fingerprint = hash(canonicalJson(event.json));
    const markerKey = (index: number) => hash(`${key} ${index}`);
    const find = async (index: number): Promise<ItemResult | undefined> => {
      const marker = await idempotency.find(markerKey(index));
      if (!marker) return undefined;
      const { status, body } = replay(marker, fingerprint);
      return { status, ...(body as object) };
    };
    const createMarker = (index: number): ItemMarker<Value> => ({
      alsoWrite(value) {
        const { status, ...body } = toResult(value);
        return [idempotency.record(markerKey(index), { fingerprint, status, body })];
      },
      wasApplied: async () => (await find(index)) !== undefined,
    });
    const withRemembered = (outcomes: readonly ItemOutcome[]) =>
      Promise.all(
        outcomes.map(async (outcome, index) => {
          if (isApplied(outcome)) return outcome;
          try {
            const result = await find(index);
            return result ? { result } : outcome;
          } catch (error) {
            return toFailedItem(error, failure);
          }
        }),
      );

    const recorded = await idempotency.find(key);
    if (recorded) {
      const { headers = {}, body } = replay(recorded, fingerprint);
      return { ...reply(await withRemembered(outcomesIn(body))), headers };
    }
    await idempotency.bind(hash(`${key} body`), fingerprint);
    const outcomes = await withRemembered(await applyItems(operation, event, items, createMarker));
    const first = reply(outcomes);
    // Without it the markers are enough to repeat the request. Records that failed unexpectedly are tried again.
    if (!outcomes.some(isUnexpected))
      await idempotency.save(key, { ...first, fingerprint }).catch(() => undefined);
    return first;
  };
}

function outcomesIn({ data }: Reply['body']): ItemOutcome[] {
  const { results } = data as { results: readonly (ItemResult & { readonly index: number })[] };
  return results.map(({ index: _, ...result }) => ({ result: result as ItemResult }));
}

// A key is bound to one resource: a transaction and a category may use the same key.
function readKey({ headers, requestContext }: WriteEvent): string | undefined {
  const sent = headers['idempotency-key'];
  if (sent === undefined) return undefined;
  const [, quoted, bare] = IDEMPOTENCY_KEY.exec(sent) ?? [];
  const key = quoted ?? bare;
  if (key === undefined) {
    throw new ValidationError('Idempotency-Key must be 1 to 255 printable ASCII characters');
  }
  const { method, path } = requestContext.http;
  return hash(`${method} ${path.replace(/\/$/, '')}\n${key}`);
}

/** @throws IdempotencyKeyReusedError */
function replay({ fingerprint, headers, ...reply }: RecordedReply, sent: string): Reply {
  if (fingerprint !== sent) throw keyReused();
  return { ...reply, headers: { ...headers, 'idempotent-replayed': 'true' } };
}

// Until the deadline, another transaction was writing the marker.
function isBusy(error: unknown): boolean {
  const { CancellationReasons } = error as { CancellationReasons?: { Code?: string }[] };
  return (
    error instanceof RequestRepeatedError ||
    CancellationReasons?.[0]?.Code === 'TransactionConflict'
  );
}

/** Equal values give the same text, regardless of the order of their members. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member) =>
    member !== null && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
