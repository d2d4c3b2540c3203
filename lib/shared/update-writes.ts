// Builds writes with conditions. Updates refer to attributes by placeholders, because many names are reserved words.
import type { Item, Key, Write } from './database.ts';

/** A condition of a write, and the error if it does not hold. */
export interface Condition {
  readonly expression: string;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly onConditionFailed: Write['onConditionFailed'];
}

/** Adds to counters of one item; without a condition a missing item is created. */
export function addToCounters(
  key: Key,
  increments: ReadonlyMap<string, number | bigint>,
  condition?: Condition,
): Write {
  const terms = [...increments.keys()].map((_, n) => `#a${n} :a${n}`);
  return createUpdate(key, `ADD ${terms.join(', ')}`, increments, condition);
}

/** Sets attributes of one item, and removes those that are undefined. The item's other attributes stay unchanged. */
export function setAttributes(
  key: Key,
  attributes: Readonly<Record<string, unknown>>,
  condition: Condition,
): Write {
  const values = Object.values(attributes);
  const set = values.flatMap((value, n) => (value === undefined ? [] : `#a${n} = :a${n}`));
  const removed = values.flatMap((value, n) => (value === undefined ? `#a${n}` : []));
  const clauses = [
    ...(set.length > 0 ? [`SET ${set.join(', ')}`] : []),
    ...(removed.length > 0 ? [`REMOVE ${removed.join(', ')}`] : []),
  ];
  return createUpdate(key, clauses.join(' '), new Map(Object.entries(attributes)), condition);
}

/** Returns the attributes that differ between two versions of an item, for `setAttributes`: undefined removes one. */
export function diffItems(before: Item, after: Item): Item {
  const names = Object.keys({ ...before, ...after });
  const changed = names.filter((name) => before[name] !== after[name]);
  return Object.fromEntries(changed.map((name) => [name, after[name]]));
}

/**
 * Builds the condition that the attributes of an update have not changed.
 * @param storedValues in the order of the update; undefined for an attribute that the item lacked
 */
export function createUnchangedCondition(storedValues: readonly unknown[]) {
  const terms = storedValues.map((value, n) =>
    value === undefined ? `attribute_not_exists(#a${n})` : `#a${n} = :r${n}`,
  );
  const values = storedValues.flatMap((value, n) =>
    value === undefined ? [] : [[`:r${n}`, value]],
  );
  return { expression: terms.join(' AND '), values: Object.fromEntries(values) };
}

export function createDeletion(
  key: Key,
  { expression, values, onConditionFailed }: Condition,
): Write {
  return {
    Delete: { Key: key, ConditionExpression: expression, ExpressionAttributeValues: values },
    onConditionFailed,
  };
}

/** Serves as `onConditionFailed` of a write that has no condition. */
export function createNoConditionError(): Error {
  return new Error('A write without a condition cannot fail on one');
}

/** Names the item that a write concerns. */
export function toItemName({ Put, Update, Delete, ConditionCheck }: Write): string {
  const { pk, sk } = Put?.Item ?? Update?.Key ?? Delete?.Key ?? ConditionCheck?.Key ?? {};
  return `${pk} ${sk}`;
}

function createUpdate(
  key: Key,
  expression: string,
  attributes: ReadonlyMap<string, unknown>,
  condition: Condition | undefined,
): Write {
  const entries = [...attributes];
  return {
    Update: {
      Key: key,
      UpdateExpression: expression,
      ConditionExpression: condition?.expression,
      ExpressionAttributeNames: Object.fromEntries(entries.map(([name], n) => [`#a${n}`, name])),
      ExpressionAttributeValues: {
        ...Object.fromEntries(
          entries.flatMap(([, value], n) => (value === undefined ? [] : [[`:a${n}`, value]])),
        ),
        ...condition?.values,
      },
    },
    onConditionFailed: condition?.onConditionFailed ?? createNoConditionError,
  };
}
