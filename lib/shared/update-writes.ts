// Writes with conditions. Attributes of an update are placeholders, because many names are reserved words.
import type { Item, Key, Write } from './database.ts';

/** A condition of a write and what it means when it does not hold. */
export interface Condition {
  readonly expression: string;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly onConditionFailed: Write['onConditionFailed'];
}

/** Adds to counters of one item; without a condition a missing item is created. */
export function addTo(
  key: Key,
  byAttribute: ReadonlyMap<string, number | bigint>,
  condition?: Condition,
): Write {
  const terms = [...byAttribute.keys()].map((_, n) => `#a${n} :a${n}`);
  return update(key, `ADD ${terms.join(', ')}`, byAttribute, condition);
}

/** Sets attributes of one item, removes those that are undefined, and leaves its others alone. */
export function setOn(
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
  return update(key, clauses.join(' '), new Map(Object.entries(attributes)), condition);
}

/** The attributes of an item that a change sets, for `setOn`: undefined removes one. The item keeps all others. */
export function changedAttributes(before: Item, after: Item): Item {
  const names = Object.keys({ ...before, ...after });
  const changed = names.filter((name) => before[name] !== after[name]);
  return Object.fromEntries(changed.map((name) => [name, after[name]]));
}

/**
 * The condition that the attributes of an update are as they were.
 * @param before their values in the order of the update; undefined for one that the item lacked
 */
export function areUnchanged(before: readonly unknown[]) {
  const terms = before.map((value, n) =>
    value === undefined ? `attribute_not_exists(#a${n})` : `#a${n} = :r${n}`,
  );
  const values = before.flatMap((value, n) => (value === undefined ? [] : [[`:r${n}`, value]]));
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

/** The `onConditionFailed` of a write that has no condition. */
export function unconditional(): Error {
  return new Error('A write without a condition cannot fail on one');
}

/** Names the item that is written. */
export function itemName({ Put, Update, Delete, ConditionCheck }: Write): string {
  const { pk, sk } = Put?.Item ?? Update?.Key ?? Delete?.Key ?? ConditionCheck?.Key ?? {};
  return `${pk} ${sk}`;
}

function update(
  key: Key,
  expression: string,
  byAttribute: ReadonlyMap<string, unknown>,
  condition: Condition | undefined,
): Write {
  const entries = [...byAttribute];
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
    onConditionFailed: condition?.onConditionFailed ?? unconditional,
  };
}
