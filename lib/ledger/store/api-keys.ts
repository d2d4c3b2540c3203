// API keys. A key opens one ledger. Its secret is random, shown once, and stored only as a hash.
import { createHash, randomBytes } from 'node:crypto';
import type { Database, Item, Write } from '../../shared/database.ts';
import { StaleRecordError } from '../../shared/errors.ts';
import {
  createNoConditionError,
  createUnchangedCondition,
  setAttributes,
} from '../../shared/update-writes.ts';
import type { ApiKey, Scope } from '../domain/api-key.ts';
import { NotFoundError } from '../errors.ts';
import { API_KEY_NAMES, createApiKeyKey, createApiKeyNameKey, parseApiKeyHash } from './keys.ts';

export type ApiKeys = ReturnType<typeof createApiKeys>;

const PREFIX = 'fl_';
const SECRET_BYTES = 32;
const SECRET = /^fl_[\w-]{43}$/;
/** Number of digits of the hash that make up an id. */
const ID_DIGITS = 12;
const ID = new RegExp(`^[0-9a-f]{${ID_DIGITS}}$`);
const EXISTS = { expression: 'attribute_exists(pk)' };
const IS_NEW = 'attribute_not_exists(pk)';
/** Attributes of a key of 0.1.0. In that release, the item in the list of keys was the key itself. */
const EARLIER_ATTRIBUTES = ['name', 'ledger', 'scope', 'created_at', 'last_used_on', 'revoked_at'];
/** Maximum number of attempts to move a key. An attempt fails only if another command changes the key at the same time. */
const MAX_ATTEMPTS = 3;

/** True for an API key of this service. No access token starts with the prefix of API keys. */
export function isApiKey(token: string): boolean {
  return token.startsWith(PREFIX);
}

export function createApiKeys(options: {
  readonly database: Pick<Database, 'get' | 'query' | 'commit'>;
  readonly clock: () => Date;
}) {
  const { database, clock } = options;

  /** Creates a key. This is the only time that its secret is returned. */
  async function create(fields: {
    readonly name: string;
    readonly ledger: string;
    readonly scope: Scope;
  }): Promise<{ readonly key: ApiKey; readonly secret: string }> {
    const secret = `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64url')}`;
    const hash = hashSecret(secret);
    const item = { ...createApiKeyKey(hash), ...fields, created_at: clock().getTime() };
    const onConditionFailed = () => new Error('Two API keys have the same hash');
    const Put = { Item: item, ConditionExpression: IS_NEW };
    await database.commit([{ Put, onConditionFailed }, createNameWrite(hash)]);
    return { key: fromItem(item), secret };
  }

  /**
   * Finds a key by its secret, with a consistent read of one read unit. A string that does not look like a secret is not looked
   * up.
   * @returns undefined for a string that was never a key
   */
  async function find(secret: string): Promise<ApiKey | undefined> {
    if (!SECRET.test(secret)) return undefined;
    const item = await database.get(createApiKeyKey(hashSecret(secret)));
    return item && fromItem(item);
  }

  /** Lists all keys, including revoked ones, newest first. */
  async function list(): Promise<ApiKey[]> {
    await moveEarlierKeys();
    const entries = await database.query({ value: API_KEY_NAMES, consistent: true });
    const keys: ApiKey[] = [];
    for (const { sk } of entries) {
      const item = await database.get(createApiKeyKey(String(sk)));
      if (item) keys.push(fromItem(item));
    }
    return keys.sort((a, b) => b.createdAt - a.createdAt);
  }

  /**
   * Moves each key of 0.1.0 to its own partition. If a command of that release revokes a key that was already moved, it marks
   * only the item in the list. Such keys are revoked here.
   * @returns number of keys that were moved
   */
  async function moveEarlierKeys(): Promise<number> {
    const entries = await database.query({ value: API_KEY_NAMES, consistent: true });
    let movedCount = 0;
    for (const entry of entries) {
      if (await moveEarlierKey(entry)) movedCount += 1;
      else if (entry.revoked_at !== undefined) await adoptRevocation(entry);
    }
    return movedCount;
  }

  // The item in the list keeps its mark. The mark does no harm: a key that is revoked in both places is skipped.
  async function adoptRevocation({ sk, revoked_at }: Item): Promise<void> {
    const item = await database.get(createApiKeyKey(String(sk)));
    if (item && item.revoked_at === undefined) await updateKey(String(sk), { revoked_at });
  }

  /**
   * Moves a key as it is stored now. Moving a copy that was read earlier could undo a revocation.
   * @returns true if it was a key of 0.1.0
   */
  async function moveEarlierKey(entry: Item): Promise<boolean> {
    const hash = String(entry.sk);
    let earlierItem: Item | undefined = entry;
    for (let attempt = 1; earlierItem?.ledger !== undefined; attempt += 1) {
      try {
        await database.commit(createMoveWrites(hash, earlierItem));
        return true;
      } catch (error) {
        if (!(error instanceof StaleRecordError) || attempt === MAX_ATTEMPTS) throw error;
      }
      earlierItem = await database.get(createApiKeyNameKey(hash));
    }
    return false;
  }

  /**
   * @param id id of a key, as `list` shows it
   * @throws NotFoundError
   */
  async function revoke(id: string): Promise<ApiKey> {
    if (!ID.test(id)) throw createUnknownKeyError(id);
    await moveEarlierKeys();
    const [entry] = await database.query(
      { value: API_KEY_NAMES, between: [id, `${id}~`], consistent: true },
      1,
    );
    const hash = String(entry?.sk);
    const item = entry && (await database.get(createApiKeyKey(hash)));
    if (!item) throw createUnknownKeyError(id);
    const revokedAt = Number(item.revoked_at ?? clock().getTime());
    await updateKey(hash, { revoked_at: revokedAt });
    return { ...fromItem(item), revokedAt };
  }

  /** Records the day on which the key was used. */
  async function markUsed(secret: string, day: string): Promise<void> {
    await updateKey(hashSecret(secret), { last_used_on: day });
  }

  async function updateKey(hash: string, attributes: Item): Promise<void> {
    const onConditionFailed = () => createUnknownKeyError(hash.slice(0, ID_DIGITS));
    await database.commit([
      setAttributes(createApiKeyKey(hash), attributes, { ...EXISTS, onConditionFailed }),
    ]);
  }

  return { create, find, list, revoke, markUsed, moveEarlierKeys };
}

function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Creates writes that fail if the key has changed since it was read, or if it already has its own partition. */
function createMoveWrites(hash: string, earlierItem: Item): Write[] {
  const id = hash.slice(0, ID_DIGITS);
  const message = `Another command changed the API key ${id} while this one moved it. Run the command again.`;
  const onConditionFailed = () => new StaleRecordError(message);
  const Put = { Item: { ...earlierItem, ...createApiKeyKey(hash) }, ConditionExpression: IS_NEW };
  const removals = Object.fromEntries(EARLIER_ATTRIBUTES.map((name) => [name, undefined]));
  const unchangedCondition = createUnchangedCondition(
    EARLIER_ATTRIBUTES.map((name) => earlierItem[name]),
  );
  return [
    { Put, onConditionFailed },
    setAttributes(createApiKeyNameKey(hash), removals, {
      ...unchangedCondition,
      onConditionFailed,
    }),
  ];
}

function createNameWrite(hash: string): Write {
  return { Put: { Item: createApiKeyNameKey(hash) }, onConditionFailed: createNoConditionError };
}

function fromItem(item: Item): ApiKey {
  return {
    id: parseApiKeyHash(String(item.pk)).slice(0, ID_DIGITS),
    name: String(item.name),
    ledger: String(item.ledger),
    scope: item.scope === 'write' ? 'write' : 'read',
    createdAt: Number(item.created_at),
    lastUsedOn: item.last_used_on === undefined ? undefined : String(item.last_used_on),
    revokedAt: item.revoked_at === undefined ? undefined : Number(item.revoked_at),
  };
}

function createUnknownKeyError(id: string): NotFoundError {
  return new NotFoundError(`API key ${id} not found`);
}
