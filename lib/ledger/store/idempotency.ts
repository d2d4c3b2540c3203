// Remembers the response to a request by its idempotency key. The marker is written in the transaction that creates, changes
// or deletes the record, so that a crash leaves both or neither. DynamoDB deletes it some time after it has expired.

import type { Database, Write } from '../../shared/database.ts';
import { IdempotencyKeyReusedError, RequestRepeatedError } from '../errors.ts';
import type { Keys } from './keys.ts';

export interface RecordedReply {
  /** Hash of the request's body. */
  readonly fingerprint: string;
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Idempotency = ReturnType<typeof createIdempotency>;

const KEPT_SECONDS = 24 * 60 * 60;
const IS_FREE = 'attribute_not_exists(pk) OR expires_at <= :now';

export function createIdempotency(options: {
  readonly database: Pick<Database, 'get' | 'commit'>;
  readonly keys: Keys;
  readonly clock: () => Date;
}) {
  const { database, keys, clock } = options;
  const seconds = () => Math.floor(clock().getTime() / 1_000);

  /** Undefined where no request with this key was applied in the last 24 hours. */
  async function find(key: string): Promise<RecordedReply | undefined> {
    const item = await database.get(keys.reply(key));
    if (!item || Number(item.expires_at) <= seconds()) return undefined;
    return {
      fingerprint: String(item.fingerprint),
      status: Number(item.status),
      body: JSON.parse(String(item.body)),
      headers: JSON.parse(String(item.headers ?? '{}')),
    };
  }

  /** The write that goes first in the transaction. It fails where another request with this key was applied. */
  function record(key: string, { body, headers = {}, ...rest }: RecordedReply): Write {
    const reply = { ...rest, body: JSON.stringify(body), headers: JSON.stringify(headers) };
    return {
      Put: {
        Item: { ...keys.reply(key), ...reply, expires_at: seconds() + KEPT_SECONDS },
        ConditionExpression: IS_FREE,
        ExpressionAttributeValues: { ':now': seconds() },
      },
      onConditionFailed: () => new RequestRepeatedError('A request with this key was applied'),
    };
  }

  /**
   * Binds a key to the body of its first request, even if that request fails.
   * @throws IdempotencyKeyReusedError where it is bound to another body
   */
  async function bind(key: string, fingerprint: string): Promise<void> {
    const write: Write = {
      Put: {
        Item: { ...keys.reply(key), fingerprint, expires_at: seconds() + KEPT_SECONDS },
        ConditionExpression: `${IS_FREE} OR fingerprint = :fingerprint`,
        ExpressionAttributeValues: { ':now': seconds(), ':fingerprint': fingerprint },
      },
      onConditionFailed: keyReused,
    };
    await database.commit([write]);
  }

  /** Records a reply by itself. @throws RequestRepeatedError */
  async function save(key: string, reply: RecordedReply): Promise<void> {
    await database.commit([record(key, reply)]);
  }

  return { find, record, bind, save };
}

export function keyReused(): IdempotencyKeyReusedError {
  return new IdempotencyKeyReusedError('This Idempotency-Key was used with another body');
}
