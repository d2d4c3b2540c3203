// API keys: random, shown once, stored only as a hash. Each opens one ledger.
//
//   pk @API_KEYS   sk SHA-256 of the key, hexadecimal
//
// Not a ledger: no ledger id begins with "@".
import { createHash, randomBytes } from 'node:crypto';
import type { Database, Item } from '../../shared/database.ts';
import { setOn } from '../../shared/update-writes.ts';
import { NotFoundError } from '../errors.ts';
import type { Caller, Scope } from './caller.ts';

export interface ApiKey extends Caller {
  /** The first digits of the hash: names the key without opening anything. */
  readonly id: string;
  readonly name: string;
  readonly scope: Scope;
  /** Milliseconds. */
  readonly createdAt: number;
  /** Day of the last use in UTC, `YYYY-MM-DD`; undefined before the first one. */
  readonly lastUsedOn: string | undefined;
  /** Milliseconds; undefined while the key is valid. */
  readonly revokedAt: number | undefined;
}

export type ApiKeys = ReturnType<typeof createApiKeys>;

const PREFIX = 'fl_';
const SECRET_BYTES = 32;
const SECRET = /^fl_[\w-]{43}$/;
const PARTITION = '@API_KEYS';
const ID_DIGITS = 12;
const ID = new RegExp(`^[0-9a-f]{${ID_DIGITS}}$`);
const EXISTS = { expression: 'attribute_exists(pk)' };

/** Tells this service's keys from access tokens by their prefix. */
export function isApiKey(token: string): boolean {
  return token.startsWith(PREFIX);
}

export function createApiKeys(options: {
  readonly database: Pick<Database, 'get' | 'query' | 'commit'>;
  readonly clock: () => Date;
}) {
  const { database, clock } = options;

  /** The secret is returned here and nowhere else. */
  async function create(given: {
    readonly name: string;
    readonly ledger: string;
    readonly scope: Scope;
  }): Promise<{ readonly key: ApiKey; readonly secret: string }> {
    const secret = `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64url')}`;
    const item = { ...itemKey(secret), ...given, created_at: clock().getTime() };
    const onConditionFailed = () => new Error('Two API keys have one hash');
    const Put = { Item: item, ConditionExpression: 'attribute_not_exists(pk)' };
    await database.commit([{ Put, onConditionFailed }]);
    return { key: fromItem(item), secret };
  }

  /**
   * One consistent read of a single unit, and none for a text that does not have the form of a key.
   * @returns undefined for a text that was never a key
   */
  async function find(secret: string): Promise<ApiKey | undefined> {
    if (!SECRET.test(secret)) return undefined;
    const item = await database.get(itemKey(secret));
    return item && fromItem(item);
  }

  /** Every key, the revoked ones included, newest first. */
  async function list(): Promise<ApiKey[]> {
    const items = await database.query({ value: PARTITION, consistent: true });
    return items.map(fromItem).sort((one, other) => other.createdAt - one.createdAt);
  }

  /**
   * @param id as `list` shows it
   * @throws NotFoundError
   */
  async function revoke(id: string): Promise<ApiKey> {
    if (!ID.test(id)) throw unknownKey(id);
    const [found] = await database.query(
      { value: PARTITION, between: [id, `${id}~`], consistent: true },
      1,
    );
    if (!found) throw unknownKey(id);
    const revokedAt = Number(found.revoked_at ?? clock().getTime());
    await change(found, { revoked_at: revokedAt });
    return { ...fromItem(found), revokedAt };
  }

  /** Records the day of a use. */
  async function markUsed(secret: string, day: string): Promise<void> {
    await change(itemKey(secret), { last_used_on: day });
  }

  async function change(key: Item, attributes: Item): Promise<void> {
    const { pk, sk } = key;
    const onConditionFailed = () => unknownKey(String(sk).slice(0, ID_DIGITS));
    const write = setOn({ pk: String(pk), sk: String(sk) }, attributes, {
      ...EXISTS,
      onConditionFailed,
    });
    await database.commit([write]);
  }

  return { create, find, list, revoke, markUsed };
}

function itemKey(secret: string) {
  return { pk: PARTITION, sk: createHash('sha256').update(secret).digest('hex') };
}

function fromItem(item: Item): ApiKey {
  return {
    id: String(item.sk).slice(0, ID_DIGITS),
    name: String(item.name),
    ledger: String(item.ledger),
    scope: item.scope === 'write' ? 'write' : 'read',
    createdAt: Number(item.created_at),
    lastUsedOn: item.last_used_on === undefined ? undefined : String(item.last_used_on),
    revokedAt: item.revoked_at === undefined ? undefined : Number(item.revoked_at),
  };
}

function unknownKey(id: string): NotFoundError {
  return new NotFoundError(`API key ${id} not found`);
}
