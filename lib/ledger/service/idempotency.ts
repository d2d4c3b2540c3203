// Applies a request with an idempotency key only once. A client that received no response repeats the request, and gets the
// first reply. The marker that stores the reply is committed together with the change.
import { createHash } from 'node:crypto';
import { BusyError } from '../../shared/errors.ts';
import { ConflictError, RequestInProgressError, RequestRepeatedError } from '../errors.ts';
import {
  createKeyReusedError,
  type IdempotencyStore,
  type Remember,
  type RememberedReply,
} from '../store/idempotency.ts';
import type { IdempotencyMarker, Outcome } from './bulk.ts';

export interface KeyedRequest {
  /** Each operation has its own keys: a transaction and a category may be created with the same key. */
  readonly operation: string;
  readonly key: string;
  /** The request's JSON. A key is bound to the first body that was sent with it. */
  readonly body: object;
}

/** A reply that can be stored and sent again. It answers a request, or an item of a bulk request. */
export type StorableReply = Omit<RememberedReply, 'fingerprint'>;

export type RememberReply = Remember<StorableReply>;

/** A bulk request, which may take several commits. Without an idempotency key, nothing is stored. */
export interface BulkRequest {
  /** The complete reply of an earlier attempt; undefined if no attempt has finished. */
  readonly earlierReply: StorableReply | undefined;
  readonly createMarker: <Value>(
    index: number,
    toReply: (value: Value) => StorableReply,
  ) => IdempotencyMarker<Value> | undefined;
  /** Replaces the errors of items that an earlier attempt applied with the replies of that attempt. */
  readonly restoreReplies: (
    outcomes: readonly Outcome<StorableReply>[],
  ) => Promise<readonly Outcome<StorableReply>[]>;
  /** Stores the reply. If this fails, the request still succeeds: the markers of its items are enough to repeat it. */
  readonly save: (reply: StorableReply) => Promise<void>;
}

export type Idempotency = ReturnType<typeof createIdempotency>;

const REQUEST_WITHOUT_KEY: BulkRequest = {
  earlierReply: undefined,
  createMarker: () => undefined,
  restoreReplies: async (outcomes) => outcomes,
  save: async () => undefined,
};

export function createIdempotency({ store }: { readonly store: IdempotencyStore }) {
  /**
   * @param apply makes the change, and commits it together with the writes that `remember` returns for the reply
   * @throws IdempotencyKeyReusedError, RequestInProgressError, and the errors of `apply`
   */
  async function applyOnce(
    request: KeyedRequest | undefined,
    apply: (remember: RememberReply) => Promise<StorableReply>,
  ): Promise<{ readonly reply: StorableReply; readonly isReplayed: boolean }> {
    if (!request) return { reply: await apply(() => []), isReplayed: false };
    const { key, fingerprint } = hashRequest(request);
    const replay = (rememberedReply: RememberedReply) => ({
      reply: requireSameBody(rememberedReply, fingerprint),
      isReplayed: true,
    });
    const earlierReply = await store.find(key);
    if (earlierReply) return replay(earlierReply);
    try {
      const reply = await apply((newReply) => store.remember(key, { ...newReply, fingerprint }));
      return { reply, isReplayed: false };
    } catch (error) {
      // A concurrent attempt of the same request may have been applied. Then this attempt fails, for example because the name is
      // taken. If the marker cannot be read, it is unknown whether a conflict has this cause, so the read's error is thrown. Any
      // other error is thrown itself.
      const concurrentReply = await store.find(key).catch((failure: unknown) => {
        if (error instanceof ConflictError) throw failure;
        return undefined;
      });
      if (concurrentReply) return replay(concurrentReply);
      throw isRunning(error)
        ? new RequestInProgressError('A request with this key is running')
        : error;
    }
  }

  /**
   * Binds the key to the body before anything is written. Each item has its own marker. A retry of an interrupted request
   * applies the items without a marker. For the others it returns their first replies, even if the records have changed since.
   * @throws IdempotencyKeyReusedError
   */
  async function beginBulk(request: KeyedRequest | undefined): Promise<BulkRequest> {
    if (!request) return REQUEST_WITHOUT_KEY;
    const { key, fingerprint } = hashRequest(request);
    const hashItemKey = (index: number) => hash(`${key} ${index}`);

    const find = async (markerKey: string): Promise<StorableReply | undefined> => {
      const rememberedReply = await store.find(markerKey);
      return rememberedReply && requireSameBody(rememberedReply, fingerprint);
    };
    const earlierReply = await find(key);
    if (!earlierReply) await store.bind(hash(`${key} body`), fingerprint);

    return {
      earlierReply,
      createMarker: (index, toReply) => ({
        remember: (value) => store.remember(hashItemKey(index), { ...toReply(value), fingerprint }),
        wasApplied: async () => (await find(hashItemKey(index))) !== undefined,
      }),
      restoreReplies: (outcomes) =>
        Promise.all(
          outcomes.map(async (outcome, index) => {
            if ('value' in outcome) return outcome;
            try {
              const reply = await find(hashItemKey(index));
              return reply ? { value: reply } : outcome;
            } catch (error) {
              return { error };
            }
          }),
        ),
      save: (reply) => store.save(key, { ...reply, fingerprint }).catch(() => undefined),
    };
  }

  return { applyOnce, beginBulk };
}

function hashRequest({ operation, key, body }: KeyedRequest) {
  return { key: hash(`${operation}\n${key}`), fingerprint: hash(toCanonicalJson(body)) };
}

/** @throws IdempotencyKeyReusedError */
function requireSameBody(
  { fingerprint, ...reply }: RememberedReply,
  sentFingerprint: string,
): StorableReply {
  if (fingerprint !== sentFingerprint) throw createKeyReusedError();
  return reply;
}

/** True if the same request is being applied, or was applied but its reply cannot be read. */
function isRunning(error: unknown): boolean {
  return error instanceof RequestRepeatedError || error instanceof BusyError;
}

/** Returns the same string for equal values, whatever the order of their members. */
function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member) =>
    member !== null && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
