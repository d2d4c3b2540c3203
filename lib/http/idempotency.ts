// The Idempotency-Key header of a POST: a client that heard no response sends the request again, and nothing is
// recorded twice. A replay has the status, body and ETag of the first response, and `Idempotent-Replayed: true`.
import { createHash } from 'node:crypto';
import {
  ConflictError,
  DuplicateError,
  IdempotencyKeyReusedError,
  RequestInProgressError,
  RequestRepeatedError,
  ValidationError,
} from '../errors.ts';
import type { Write } from '../store/database.ts';
import type { RecordedReply } from '../store/idempotency.ts';
import type { LedgerEvent } from './endpoint.ts';
import type { JsonObject } from './json-body.ts';
import type { Reply } from './replies.ts';

/** The writes that record a reply; they belong into the transaction of what the reply is about. */
export type RecordReply = (reply: Reply) => readonly Write[];

type CreateEvent = LedgerEvent & { readonly json: JsonObject };

// As other APIs take it: a bare value, or the quoted string of the IETF draft.
export const IDEMPOTENCY_KEY =
  /^(?:"([\x20-\x21\x23-\x7e]{1,255})"|([\x21\x23-\x7e][\x20-\x7e]{0,254}))$/;

/** @param create makes the record and its reply; it commits the writes of `record` together with the record */
export function idempotent<Event extends CreateEvent>(
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
        if (isConflict(error)) throw failure;
        return undefined;
      });
      if (other) return replay(other, fingerprint);
      throw isBusy(error)
        ? new RequestInProgressError('A request with this key is running')
        : error;
    }
  };
}

/** What a request that creates many records remembers of each of them. */
export interface ItemMarkers {
  /** The writes that belong into the transaction of the record. */
  readonly record: (index: number, id: number) => readonly Write[];
  /** The id of the record that an interrupted request with this key created. */
  readonly find: (index: number) => Promise<number | undefined>;
}

/**
 * The same for a request that creates many records, in more than one transaction. Each record has a marker of its own: a
 * repetition of a request that was interrupted creates the rest.
 */
export function idempotentItems<Event extends CreateEvent>(
  create: (event: Event, markers?: ItemMarkers) => Promise<Reply>,
): (event: Event) => Promise<Reply> {
  return async (event) => {
    const key = readKey(event);
    if (key === undefined) return await create(event);
    const { idempotency } = event.ledger;
    const fingerprint = hash(canonicalJson(event.json));
    const recorded = await idempotency.find(key);
    if (recorded) return replay(recorded, fingerprint);
    const reply = await create(event, {
      record: (index, id) => [
        idempotency.record(hash(`${key} ${index}`), { fingerprint, status: 201, body: { id } }),
      ],
      find: async (index) => {
        const marker = await idempotency.find(hash(`${key} ${index}`));
        return marker && Number(replay(marker, fingerprint).body.id);
      },
    });
    // The markers of the records are enough to repeat it: those that failed unexpectedly are tried again.
    if (!reply.hasUnexpectedFailures)
      await idempotency.save(key, { ...reply, fingerprint }).catch(() => undefined);
    return reply;
  };
}

// Of one resource: the same key may be used for a transaction and for a category.
function readKey({ headers, requestContext }: CreateEvent): string | undefined {
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
  if (fingerprint !== sent) {
    throw new IdempotencyKeyReusedError('This Idempotency-Key was used with another body');
  }
  return { ...reply, headers: { ...headers, 'idempotent-replayed': 'true' } };
}

function isConflict(error: unknown): boolean {
  return error instanceof ConflictError || error instanceof DuplicateError;
}

// Until the deadline, another transaction was writing the marker.
function isBusy(error: unknown): boolean {
  const { CancellationReasons } = error as { CancellationReasons?: { Code?: string }[] };
  return (
    error instanceof RequestRepeatedError ||
    CancellationReasons?.[0]?.Code === 'TransactionConflict'
  );
}

/** The same text for the same value, in whatever order its members were sent. */
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
