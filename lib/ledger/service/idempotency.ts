// Applies a request with an idempotency key once: a client that heard no response sends it again, and gets the first reply.
// The marker that remembers the reply is part of the commit that it is about.
import { createHash } from 'node:crypto';
import { BusyError } from '../../shared/errors.ts';
import { ConflictError, RequestInProgressError, RequestRepeatedError } from '../errors.ts';
import {
  type IdempotencyStore,
  keyReused,
  type RecordedReply,
  type Remember,
} from '../store/idempotency.ts';
import type { Marker, Outcome } from './bulk.ts';

export interface KeyedRequest {
  /** A key is bound to one operation: a transaction and a category may use the same key. */
  readonly operation: string;
  readonly key: string;
  /** JSON; a key is bound to its first body. */
  readonly body: object;
}

/** A remembered reply, to a request or to one item of it. */
export type RememberedReply = Omit<RecordedReply, 'fingerprint'>;

export type RememberReply = Remember<RememberedReply>;

/** A request of many items, in more than one commit. Without a key nothing is remembered. */
export interface BulkRequest {
  /** The reply of an earlier attempt that was remembered as a whole. */
  readonly remembered: RememberedReply | undefined;
  readonly createMarker: <Value>(
    index: number,
    toReply: (value: Value) => RememberedReply,
  ) => Marker<Value> | undefined;
  /** Replaces the refusals of items that an attempt has applied by its replies. */
  readonly recall: (
    outcomes: readonly Outcome<RememberedReply>[],
  ) => Promise<readonly Outcome<RememberedReply>[]>;
  /** The markers alone are enough to repeat the request, so a failure to store the reply does not fail the request. */
  readonly save: (reply: RememberedReply) => Promise<void>;
}

export type Idempotency = ReturnType<typeof createIdempotency>;

const WITHOUT_KEY: BulkRequest = {
  remembered: undefined,
  createMarker: () => undefined,
  recall: async (outcomes) => outcomes,
  save: async () => undefined,
};

export function createIdempotency({ store }: { readonly store: IdempotencyStore }) {
  /**
   * @param apply commits what `remember` makes of the reply together with what the reply is about
   * @throws IdempotencyKeyReusedError, RequestInProgressError, and what `apply` throws
   */
  async function once(
    request: KeyedRequest | undefined,
    apply: (remember: RememberReply) => Promise<RememberedReply>,
  ): Promise<{ readonly reply: RememberedReply; readonly isReplayed: boolean }> {
    if (!request) return { reply: await apply(() => []), isReplayed: false };
    const { key, fingerprint } = identify(request);
    const replay = (found: RecordedReply) => ({
      reply: matching(found, fingerprint),
      isReplayed: true,
    });
    const earlier = await store.find(key);
    if (earlier) return replay(earlier);
    try {
      const reply = await apply((made) => store.record(key, { ...made, fingerprint }));
      return { reply, isReplayed: false };
    } catch (error) {
      // The same request may have been applied meanwhile; its name may be what is taken now. If that cannot be read, a
      // conflict proves nothing; any other error says more than the failure of this read.
      const other = await store.find(key).catch((failure: unknown) => {
        if (error instanceof ConflictError) throw failure;
        return undefined;
      });
      if (other) return replay(other);
      throw isRunning(error)
        ? new RequestInProgressError('A request with this key is running')
        : error;
    }
  }

  /**
   * Binds the key to the body before anything is written. Each item has a marker of its own, which outranks every later refusal:
   * a repetition of a request that was interrupted applies the rest, and answers with the first replies of the others, even if
   * they have changed since.
   * @throws IdempotencyKeyReusedError
   */
  async function begin(request: KeyedRequest | undefined): Promise<BulkRequest> {
    if (!request) return WITHOUT_KEY;
    const { key, fingerprint } = identify(request);
    const itemKey = (index: number) => hash(`${key} ${index}`);

    const find = async (which: string): Promise<RememberedReply | undefined> => {
      const found = await store.find(which);
      return found && matching(found, fingerprint);
    };
    const remembered = await find(key);
    if (!remembered) await store.bind(hash(`${key} body`), fingerprint);

    return {
      remembered,
      createMarker: (index, toReply) => ({
        remember: (value) => store.record(itemKey(index), { ...toReply(value), fingerprint }),
        wasApplied: async () => (await find(itemKey(index))) !== undefined,
      }),
      recall: (outcomes) =>
        Promise.all(
          outcomes.map(async (outcome, index) => {
            if ('value' in outcome) return outcome;
            try {
              const reply = await find(itemKey(index));
              return reply ? { value: reply } : outcome;
            } catch (error) {
              return { error };
            }
          }),
        ),
      save: (reply) => store.save(key, { ...reply, fingerprint }).catch(() => undefined),
    };
  }

  return { once, begin };
}

function identify({ operation, key, body }: KeyedRequest) {
  return { key: hash(`${operation}\n${key}`), fingerprint: hash(canonicalJson(body)) };
}

/** @throws IdempotencyKeyReusedError */
function matching({ fingerprint, ...reply }: RecordedReply, sent: string): RememberedReply {
  if (fingerprint !== sent) throw keyReused();
  return reply;
}

/** True if the same request was being applied, or was applied and cannot be read. */
function isRunning(error: unknown): boolean {
  return error instanceof RequestRepeatedError || error instanceof BusyError;
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
