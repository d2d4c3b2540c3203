// Remembers the reply to a request under its idempotency key, in an item called the marker. One database transaction writes the
// marker and the change, so that a crash leaves both or neither. DynamoDB deletes a marker some time after it expires.

import type { Database, Write } from '../../shared/database.ts';
import { BusyError } from '../../shared/errors.ts';
import { IdempotencyKeyReusedError, RequestRepeatedError } from '../errors.ts';
import type { Keys } from './keys.ts';

export interface RememberedReply {
  /** Hash of the request's body. */
  readonly fingerprint: string;
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Writes that are committed together with a change. Only stores look at them; services pass them on. */
export type CommitPart = readonly Write[];

/** Creates the writes that remember the result of a change. */
export type Remember<Value> = (value: Value) => CommitPart;

export type IdempotencyStore = ReturnType<typeof createIdempotencyStore>;

const RETENTION_SECONDS = 24 * 60 * 60;
const IS_FREE = 'attribute_not_exists(pk) OR expires_at <= :now';

export function createIdempotencyStore(options: {
  readonly database: Pick<Database, 'get' | 'commit'>;
  readonly keys: Keys;
  readonly clock: () => Date;
}) {
  const { database, keys, clock } = options;
  const readClockSeconds = () => Math.floor(clock().getTime() / 1_000);

  /** @returns undefined if no request with this key was applied in the last 24 hours */
  async function find(key: string): Promise<RememberedReply | undefined> {
    const item = await database.get(keys.reply(key));
    if (!item || Number(item.expires_at) <= readClockSeconds()) return undefined;
    return {
      fingerprint: String(item.fingerprint),
      status: Number(item.status),
      body: JSON.parse(String(item.body)),
      headers: JSON.parse(String(item.headers ?? '{}')),
    };
  }

  /**
   * Creates the write that remembers a reply. Its commit throws RequestRepeatedError if another request with this key was
   * applied, and BusyError if another one is still being applied at the deadline.
   */
  function remember(
    key: string,
    { fingerprint, status, body, headers = {} }: RememberedReply,
  ): CommitPart {
    const reply = { status, body: JSON.stringify(body), headers: JSON.stringify(headers) };
    const Item = {
      ...keys.reply(key),
      fingerprint,
      ...reply,
      expires_at: readClockSeconds() + RETENTION_SECONDS,
    };
    const write: Write = {
      Put: {
        Item,
        ConditionExpression: IS_FREE,
        ExpressionAttributeValues: { ':now': readClockSeconds() },
      },
      onConditionFailed: () => new RequestRepeatedError('A request with this key was applied'),
      onBusy: (cause) => new BusyError('A request with this key is being applied', { cause }),
    };
    return [write];
  }

  /**
   * Binds a key to the body of its first request, even if that request fails.
   * @throws IdempotencyKeyReusedError if the key is bound to another body
   */
  async function bind(key: string, fingerprint: string): Promise<void> {
    const write: Write = {
      Put: {
        Item: {
          ...keys.reply(key),
          fingerprint,
          expires_at: readClockSeconds() + RETENTION_SECONDS,
        },
        ConditionExpression: `${IS_FREE} OR fingerprint = :fingerprint`,
        ExpressionAttributeValues: { ':now': readClockSeconds(), ':fingerprint': fingerprint },
      },
      onConditionFailed: createKeyReusedError,
    };
    await database.commit([write]);
  }

  /**
   * Remembers a reply in its own commit.
   * @throws RequestRepeatedError
   */
  async function save(key: string, reply: RememberedReply): Promise<void> {
    await database.commit(remember(key, reply));
  }

  return { find, remember, bind, save };
}

export function createKeyReusedError(): IdempotencyKeyReusedError {
  return new IdempotencyKeyReusedError('This Idempotency-Key was used with another body');
}
