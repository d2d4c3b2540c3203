// Converts the local service's data from earlier releases, before this release reads the data.
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { encodeLedgerId } from '../lib/ledger/auth/caller.ts';
import { createApiKeys } from '../lib/ledger/store/api-keys.ts';
import { API_KEY_NAMES } from '../lib/ledger/store/keys.ts';
import { sweepTable } from '../lib/ledger/store/schema-sweep.ts';
import {
  createDatabase,
  type Database,
  type Item,
  LONG_TIMEOUTS,
  type Write,
} from '../lib/shared/database.ts';
import { DEFAULT_RETRY_POLICY } from '../lib/shared/retry.ts';
import { createNoConditionError } from '../lib/shared/update-writes.ts';

/** In 0.1.0 the id of an access token's ledger was `user-` followed by the whole digest. */
const LONG_ID = /^user-([\w-]{43})(?=#|$)/;
const LONG_ID_PREFIX = 'user-';
const KEY_ATTRIBUTES = ['pk', 'all_key', 'type_key', 'category_key', 'category_type_key'];
/** Key of the item that counts the conversions already applied to a table. No ledger id begins with "@". */
const FORM_KEY = { pk: '@FORM', sk: '-' };
const WRITES_PER_COMMIT = 20;

interface TableToConvert {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
}

/** Conversions in the order of the releases that introduced them. Each returns the number of items that it converted. */
const CONVERSIONS: readonly ((database: Database, table: TableToConvert) => Promise<number>)[] = [
  shortenLedgerIds,
  moveApiKeys,
  addVersions,
];

/**
 * Converts each item in a single database transaction, and marks the table last. An interrupted conversion therefore resumes at
 * the next start.
 * @returns number of changes; an item that two conversions change counts twice
 */
export async function convertData(table: TableToConvert): Promise<number> {
  const database = createDatabase({
    ...table,
    retryPolicy: DEFAULT_RETRY_POLICY,
    timeouts: LONG_TIMEOUTS,
  });
  const appliedCount = Number((await database.get(FORM_KEY))?.form ?? 0);
  if (appliedCount >= CONVERSIONS.length) return 0;
  let changedItems = 0;
  for (const convert of CONVERSIONS.slice(appliedCount))
    changedItems += await convert(database, table);
  await database.commit([createPut({ ...FORM_KEY, form: CONVERSIONS.length })]);
  return changedItems;
}

/** Gives the ledgers of access tokens their shorter ids. */
async function shortenLedgerIds(database: Database): Promise<number> {
  const { add, flush } = collectWrites(database);
  let movedItems = 0;
  for await (const item of database.scan(LONG_ID_PREFIX)) {
    if (!LONG_ID.test(String(item.pk))) continue;
    await add(createPut(shortenIds(item, KEY_ATTRIBUTES)), createDelete(item));
    movedItems += 1;
  }
  for (const item of await database.query({ value: API_KEY_NAMES, consistent: true })) {
    if (LONG_ID.test(String(item.ledger))) await add(createPut(shortenIds(item, ['ledger'])));
  }
  await flush();
  return movedItems;
}

/** Commits writes a few at a time. Writes that are added together are committed together. */
function collectWrites(database: Database) {
  let writes: Write[] = [];
  const flush = async () => {
    if (writes.length > 0) await database.commit(writes);
    writes = [];
  };
  const add = async (...group: readonly Write[]) => {
    writes.push(...group);
    if (writes.length >= WRITES_PER_COMMIT) await flush();
  };
  return { add, flush };
}

/** Moves each API key to its own partition. */
async function moveApiKeys(database: Database): Promise<number> {
  return await createApiKeys({ database, clock: () => new Date() }).moveEarlierKeys();
}

/** Gives each item a schema version, and adds each ledger to the list of ledgers. */
async function addVersions(_: Database, table: TableToConvert): Promise<number> {
  return (await sweepTable(table)).upgraded;
}

function shortenIds(item: Item, attributes: readonly string[]): Item {
  const shortened = attributes.flatMap((name) => {
    const value = item[name];
    if (typeof value !== 'string') return [];
    return [[name, value.replace(LONG_ID, (_, digest) => shorten(digest))] as const];
  });
  return { ...item, ...Object.fromEntries(shortened) };
}

function shorten(digest: string): string {
  return encodeLedgerId(Buffer.from(digest, 'base64url'));
}

function createPut(item: Item): Write {
  return { Put: { Item: item }, onConditionFailed: createNoConditionError };
}

function createDelete({ pk, sk }: Item): Write {
  return {
    Delete: { Key: { pk: String(pk), sk: String(sk) } },
    onConditionFailed: createNoConditionError,
  };
}
