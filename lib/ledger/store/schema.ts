// The schema version of items, and the one place that upgrades them.
//
// Each item has the version of its form. A read upgrades an older item in memory. A write first upgrades the item in the table.
// A sweep upgrades all items (schema-sweep.ts). Reads and writes refuse an item of a newer version, because this release does
// not know what the attributes of that item mean.
//
// A new form needs a new version only if the previous release would misread it. A new optional attribute needs none.
import {
  createDatabase,
  type Database,
  type Item,
  type Key,
  type OutcomeCheck,
  type Range,
  type Write,
} from '../../shared/database.ts';
import { StaleRecordError } from '../../shared/errors.ts';
import { createUnchangedCondition, diffItems, setAttributes } from '../../shared/update-writes.ts';
import { UserError } from '../../shared/user-error.ts';
import { UPGRADES, type Upgrade } from './schema-upgrades.ts';

/**
 * Attribute with an item's version. The name is short, because the table and its indexes store it five times for each
 * transaction.
 */
export const SCHEMA_VERSION = 'v';

// Maximum number of attempts of a commit. Between the upgrade of an item and the next attempt, an earlier release may write the
// item in the older form.
const MAX_ATTEMPTS = 3;
/** Placeholder for the current version in conditions and updates. */
const CURRENT_PLACEHOLDER = ':schema';
const IS_CURRENT = `${SCHEMA_VERSION} = ${CURRENT_PLACEHOLDER}`;
const IS_NEW = 'attribute_not_exists(pk)';
const IS_NOT_NEWER = `attribute_not_exists(${SCHEMA_VERSION}) OR ${SCHEMA_VERSION} <= ${CURRENT_PLACEHOLDER}`;

/** An item was written by a newer release than this one. */
export class NewerItemError extends UserError {
  override readonly name = 'NewerItemError';
}

class OlderItemError extends Error {
  override readonly name = 'OlderItemError';
}

export type Schema = ReturnType<typeof createSchema>;

export function createSchema(upgrades: readonly Upgrade[] = UPGRADES) {
  const current = upgrades.length;
  const readAttributes = [...new Set([SCHEMA_VERSION, ...upgrades.flatMap(({ reads }) => reads)])];

  /**
   * Returns the item in the form of this release; the same object if it already has that form.
   * @throws NewerItemError
   */
  function upgrade(item: Item): Item {
    const version = readVersion(item);
    if (version === current) return item;
    if (version > current) throw createNewerItemError(item, current);
    return stamp(upgrades.slice(version).reduce(applyUpgrade, item));
  }

  function stamp(item: Item): Item {
    return { ...item, [SCHEMA_VERSION]: current };
  }

  /** Creates the write that upgrades a stored item to the form of this release; undefined if it has that form already. */
  function createUpgradeWrite(stored: Item): Write | undefined {
    const upgraded = upgrade(stored);
    if (upgraded === stored) return undefined;
    const changedAttributes = diffItems(stored, upgraded);
    // The attributes that the upgrade read, and those that it replaces, must not have changed.
    const conditionNames = new Set([...Object.keys(changedAttributes), ...readAttributes]);
    const names = [...conditionNames].filter((name) => !['pk', 'sk'].includes(name));
    const attributes = Object.fromEntries(names.map((name) => [name, upgraded[name]]));
    const condition = createUnchangedCondition(names.map((name) => stored[name]));
    return setAttributes(keyOf(stored), attributes, {
      expression: `attribute_exists(pk) AND ${condition.expression}`,
      values: condition.values,
      onConditionFailed: () => new StaleRecordError('The item of an upgrade has changed'),
    });
  }

  /** Adds the condition that keeps a write from changing an item of another version. */
  function addVersionCondition(write: Write): Write {
    const { Put, Update, Delete, ConditionCheck } = write;
    const guardedWrite = { ...write, onConditionFailed };
    const values = { [CURRENT_PLACEHOLDER]: current };
    if (Put) {
      const stampedPut = { ...Put, Item: stamp(Put.Item ?? {}) };
      return { ...guardedWrite, Put: addCondition(stampedPut, IS_NOT_NEWER, values) };
    }
    if (Delete) return { ...guardedWrite, Delete: addCondition(Delete, IS_NOT_NEWER, values) };
    const currentCondition = `${IS_NEW} OR ${IS_CURRENT}`;
    if (ConditionCheck) {
      return {
        ...guardedWrite,
        ConditionCheck: addCondition(ConditionCheck, currentCondition, values),
      };
    }
    if (!Update) return guardedWrite;
    const UpdateExpression = stampUpdate(Update.UpdateExpression ?? '');
    return {
      ...guardedWrite,
      Update: addCondition({ ...Update, UpdateExpression }, currentCondition, values),
    };

    function onConditionFailed(existing: Item | undefined): Error {
      // The condition may hold once the item is upgraded, so the failure of an older item is not reported yet.
      const isOlderItem = existing !== undefined && readVersion(existing) < current;
      if (isOlderItem) return new OlderItemError('An item must be upgraded first');
      return write.onConditionFailed(existing && upgrade(existing));
    }
  }

  return { current, readAttributes, upgrade, stamp, createUpgradeWrite, addVersionCondition };
}

/** Opens a database in which all items appear in the form of this release. */
export function createLedgerDatabase(
  options: Parameters<typeof createDatabase>[0],
  schema: Schema = createSchema(),
): Database {
  const database = createDatabase(options);
  const { upgrade, addVersionCondition } = schema;
  const addReadAttributes = (range: Range): Range =>
    range.projection
      ? { ...range, projection: [...new Set([...range.projection, ...schema.readAttributes])] }
      : range;

  const get: Database['get'] = async (key, options) => {
    const item = await database.get(key, options);
    return item && upgrade(item);
  };

  const query: Database['query'] = async (range, ...options) =>
    (await database.query(addReadAttributes(range), ...options)).map(upgrade);

  const queryOnce: Database['queryOnce'] = async (range, after) => {
    const { items, end } = await database.queryOnce(addReadAttributes(range), after);
    return { items: items.map(upgrade), end };
  };

  async function* scan(prefix?: string): AsyncGenerator<Item> {
    for await (const item of database.scan(prefix)) yield upgrade(item);
  }

  const increment: Database['increment'] = (key, attribute, count) =>
    database.increment(key, attribute, count, {
      expression: IS_CURRENT,
      values: { [CURRENT_PLACEHOLDER]: schema.current },
    });

  async function commit(writes: readonly Write[], check?: OutcomeCheck): Promise<void> {
    const guardedWrites = writes.map(addVersionCondition);
    const upgradedCheck = check && {
      ...check,
      wasApplied: (stored: Item | undefined) => check.wasApplied(stored && upgrade(stored)),
    };
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await database.commit(guardedWrites, upgradedCheck);
      } catch (error) {
        if (!(error instanceof OlderItemError) || attempt === MAX_ATTEMPTS) throw error;
      }
      const storedItems = await Promise.all(
        writes.flatMap(findCheckedKeys).map((key) => database.get(key)),
      );
      await upgradeStored(
        database,
        storedItems.filter((item) => item !== undefined),
        schema,
      );
    }
  }

  return { ...database, get, query, queryOnce, scan, increment, commit };
}

/**
 * Upgrades items in the table, in one database transaction. If an item changes at the same time, upgrades them one by one.
 * @param database a database that does not upgrade items itself
 * @param items distinct items, at most as many as one transaction takes
 * @returns number of items that this call has upgraded
 */
export async function upgradeStored(
  database: Pick<Database, 'get' | 'commit'>,
  items: readonly Item[],
  schema: Pick<Schema, 'createUpgradeWrite'>,
): Promise<number> {
  const olderItems = items.flatMap((item) => {
    const write = schema.createUpgradeWrite(item);
    return write ? [{ item, write }] : [];
  });
  if (olderItems.length === 0) return 0;
  try {
    await database.commit(olderItems.map(({ write }) => write));
    return olderItems.length;
  } catch (error) {
    if (!(error instanceof StaleRecordError)) throw error;
  }
  let upgradedCount = 0;
  for (const { item } of olderItems) {
    const latest = await database.get(keyOf(item));
    if (latest) upgradedCount += await upgradeStored(database, [latest], schema);
  }
  return upgradedCount;
}

function applyUpgrade(item: Item, { reads, change }: Upgrade): Item {
  const values = Object.fromEntries(reads.map((name) => [name, item[name]]));
  const changedEntries = Object.entries({ ...item, ...change(values) });
  return Object.fromEntries(changedEntries.filter(([, value]) => value !== undefined));
}

/**
 * Finds the key of the item whose stored form a write depends on. An unconditional Put depends on none. Its item must not be
 * read, because the function may lack the permission.
 */
function findCheckedKeys({ Put, Update, Delete, ConditionCheck }: Write): Key[] {
  const item = Put?.ConditionExpression ? Put.Item : (Update ?? Delete ?? ConditionCheck)?.Key;
  return item ? [keyOf(item)] : [];
}

function keyOf({ pk, sk }: Item): Key {
  return { pk: String(pk), sk: String(sk) };
}

function readVersion(item: Item): number {
  return Number(item[SCHEMA_VERSION] ?? 0);
}

interface Conditional {
  readonly ConditionExpression?: string | undefined;
  readonly ExpressionAttributeValues?: Record<string, unknown> | undefined;
}

function addCondition<Part extends Conditional>(
  part: Part,
  expression: string,
  values: Record<string, unknown>,
): Part {
  const { ConditionExpression: existing } = part;
  return {
    ...part,
    ConditionExpression: existing ? `(${existing}) AND (${expression})` : expression,
    ExpressionAttributeValues: { ...part.ExpressionAttributeValues, ...values },
  };
}

/** Adds the version to an update, because an update may create its item. */
function stampUpdate(expression: string): string {
  const stamp = `SET ${SCHEMA_VERSION} = ${CURRENT_PLACEHOLDER}`;
  return expression.startsWith('SET ')
    ? expression.replace('SET ', () => `${stamp}, `)
    : `${stamp} ${expression}`;
}

function createNewerItemError(item: Item, current: number): NewerItemError {
  const subject = item.pk === undefined ? 'A row of an index' : `The item ${item.pk} ${item.sk}`;
  return new NewerItemError(
    `${subject} has schema version ${readVersion(item)}, and this release knows versions up to ${current}. Deploy the release that wrote it.`,
  );
}
