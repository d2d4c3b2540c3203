// Compares what a ledger has recorded with what its rows say. A drift is one difference, with the writes that repair it.

import type { Item, Key, Write } from '../../../shared/database.ts';
import { StaleRecordError } from '../../../shared/errors.ts';
import {
  addToCounters,
  createNoConditionError,
  createUnchangedCondition,
  setAttributes,
} from '../../../shared/update-writes.ts';
import type { Category } from '../../domain/category.ts';
import { TRANSACTION_COUNT, toNameGuard } from '../categories.ts';
import { describeCounter, isDigest, isSum } from '../day-counts.ts';
import { type Keys, LAST_ID, parsePeriod, SEQUENCE_KINDS } from '../keys.ts';
import type { Counter } from '../tally.ts';
import { toExternalIdGuard, toTransactionItem } from '../transactions.ts';
import type { CheckedRow, LedgerFigures } from './figures.ts';

export interface Drift {
  readonly what:
    | 'day count'
    | 'day sums'
    | 'month digests'
    | 'category count'
    | 'row keys'
    | 'category of a row'
    | 'name guard'
    | 'external id'
    | 'sequence'
    | 'list of ledgers';
  readonly where: string;
  readonly recorded: string | number;
  readonly recomputed: string | number;
  /** Writes that repair the drift, and fail if the items have changed; undefined if it is unknown which side is right. */
  readonly repair?: readonly Write[];
}

export function describeDrift({ what, where, recorded, recomputed, repair }: Drift): string {
  const hint = repair ? '' : ' (needs a person to decide)';
  return `${what}, ${where}: recorded ${recorded}, recomputed ${recomputed}${hint}`;
}

/** @param isListed true if the list of all ledgers has the ledger */
export function findDrifts(keys: Keys, figures: LedgerFigures, isListed: boolean): Drift[] {
  return [
    ...findCounterDrifts(keys, figures),
    ...figures.wrongRows.map((row) => createRowDrift(keys, row)),
    ...findUnknownCategories(figures),
    ...findNameDrifts(keys, figures),
    ...findExternalIdDrifts(keys, figures),
    ...findSequenceDrifts(keys, figures),
    ...(isListed ? [] : findMissingEntry(keys, figures)),
  ];
}

function findCounterDrifts(
  keys: Keys,
  { recorded, recomputed, categories }: LedgerFigures,
): Drift[] {
  const names = new Set([...recorded.keys(), ...recomputed.keys()]);
  const knownKeys = new Set(categories.map(({ id }) => keys.category(id).sk));
  const wrongCounters = [...names].flatMap((name): WrongCounter[] => {
    const recordedCounter = recorded.get(name);
    const recomputedCounter = recomputed.get(name);
    const counter = recordedCounter ?? recomputedCounter;
    if (!counter || (recordedCounter?.count ?? 0n) === (recomputedCounter?.count ?? 0n)) return [];
    // A missing category is a drift of its own (`findUnknownCategories`). Its count is not created.
    if (counter.attribute === TRANSACTION_COUNT && !knownKeys.has(counter.key.sk)) return [];
    const { key, attribute } = counter;
    return [
      {
        key,
        attribute,
        recorded: recordedCounter?.count,
        recomputed: recomputedCounter?.count ?? 0n,
      },
    ];
  });
  const {
    sums = [],
    digests = [],
    counts = [],
  } = Object.groupBy(wrongCounters, ({ attribute }) => {
    if (isDigest(attribute)) return 'digests';
    return isSum(attribute) ? 'sums' : 'counts';
  });
  return [
    ...counts.map((each) => createCountDrift(keys, each)),
    ...groupByItem(sums).map(([key, itemCounters]) =>
      createSumDrift('day sums', keys, key, itemCounters),
    ),
    ...groupByItem(digests).map(([key, itemCounters]) =>
      createSumDrift('month digests', keys, key, itemCounters),
    ),
  ];
}

/** Groups counters by item, in a fixed order, so that a drift reads the same each time. */
function groupByItem(counters: readonly WrongCounter[]): [Key, WrongCounter[]][] {
  const items = Map.groupBy(counters, ({ key: { pk, sk } }) => `${pk} ${sk}`);
  return [...items.values()].flatMap((itemCounters): [Key, WrongCounter[]][] => {
    const sorted = itemCounters.toSorted((a, b) => (a.attribute < b.attribute ? -1 : 1));
    return sorted[0] ? [[sorted[0].key, sorted]] : [];
  });
}

interface WrongCounter extends Omit<Counter, 'count'> {
  readonly recorded: bigint | undefined;
  readonly recomputed: bigint;
}

function createCountDrift(keys: Keys, counter: WrongCounter): Drift {
  const { key, attribute, recorded, recomputed } = counter;
  const isCategoryCount = key.pk === keys.categories;
  return {
    what: isCategoryCount ? 'category count' : 'day count',
    where: isCategoryCount
      ? `category ${Number(key.sk)}`
      : `${describeCounter(key.sk, attribute)}, ${keys.describeDays(key.pk)}`,
    recorded: recorded === undefined ? 'nothing' : Number(recorded),
    recomputed: Number(recomputed),
    repair: [createCorrection(key, [counter])],
  };
}

/** Creates one drift for all sums of an item: a ledger that is older than sums or digests lacks all of them. */
function createSumDrift(
  what: 'day sums' | 'month digests',
  keys: Keys,
  key: Key,
  sums: readonly WrongCounter[],
): Drift {
  const show = (side: 'recorded' | 'recomputed') =>
    sums.map((sum) => `${sum.attribute}=${sum[side] ?? 'nothing'}`).join(' ');
  return {
    what,
    where: `${what === 'day sums' ? 'cents' : 'months'} of ${parsePeriod(key.sk)}, ${keys.describeDays(key.pk)}`,
    recorded: show('recorded'),
    recomputed: show('recomputed'),
    repair: [createCorrection(key, sums)],
  };
}

function createCorrection(key: Key, counters: readonly WrongCounter[]): Write {
  const increments = counters.map(({ attribute, recorded = 0n, recomputed }) => {
    return [attribute, recomputed - recorded] as const;
  });
  return addToCounters(key, new Map(increments), {
    ...createUnchangedCondition(counters.map(({ recorded }) => recorded)),
    onConditionFailed: createChangedError,
  });
}

function createRowDrift(keys: Keys, { item, transaction, wrong }: CheckedRow): Drift {
  const where = `row ${item.pk}`;
  const drift = { what: 'row keys', where, recorded: describeAttributes(item, wrong) } as const;
  if (!transaction) return { ...drift, recomputed: 'nothing: the row cannot be read' };
  const expected = toTransactionItem(keys, transaction);
  const recomputed = describeAttributes(expected, wrong);
  // The key of an item cannot be changed, so there is no repair.
  if (wrong.includes('sk')) return { ...drift, recomputed };
  const attributes = Object.fromEntries(wrong.map((name) => [name, expected[name]]));
  const update = setAttributes(keys.transaction(transaction.id), attributes, {
    expression: 'version = :version',
    values: { ':version': transaction.version },
    onConditionFailed: createChangedError,
  });
  return { ...drift, recomputed, repair: [update] };
}

function describeAttributes(
  item: Readonly<Record<string, unknown>>,
  names: readonly string[],
): string {
  return names.map((name) => `${name}=${item[name] ?? 'nothing'}`).join(' ');
}

function findUnknownCategories({ categories, referredCategoryIds }: LedgerFigures): Drift[] {
  const knownIds = new Set(categories.map(({ id }: Category) => id));
  return [...referredCategoryIds]
    .filter((id) => !knownIds.has(id))
    .map((id) => ({
      what: 'category of a row',
      where: `category ${id}`,
      recorded: 'rows that refer to it',
      recomputed: 'no such category',
    }));
}

function findNameDrifts(keys: Keys, { categories, guards }: LedgerFigures): Drift[] {
  const names: UniqueAttribute = {
    what: 'name guard',
    singular: 'category',
    plural: 'categories',
    attribute: 'name',
    guardKey: keys.categoryName,
    recordKey: keys.category,
    toGuard: (name, id) => toNameGuard(keys, name, id),
  };
  const byName = Map.groupBy(categories, ({ name }) => name);
  return [...new Set([...guards.keys(), ...byName.keys()])].flatMap((name) => {
    const owner = guards.get(name);
    const ids = (byName.get(name) ?? []).map(({ id }) => id);
    if (ids.length === 1 && ids[0] === owner) return [];
    return [createGuardDrift(names, name, owner, ids)];
  });
}

function findExternalIdDrifts(keys: Keys, { wrongExternalIds }: LedgerFigures): Drift[] {
  const externalIds: UniqueAttribute = {
    what: 'external id',
    singular: 'transaction',
    plural: 'transactions',
    attribute: 'external_id',
    guardKey: keys.externalId,
    recordKey: keys.transaction,
    toGuard: (externalId, id) => toExternalIdGuard(keys, externalId, id),
  };
  return [...wrongExternalIds].map(([externalId, { rows, guard }]) =>
    createGuardDrift(externalIds, externalId, guard, rows),
  );
}

/** An attribute that is unique among records. Each value has a guard: an item that names the record with this value. */
interface UniqueAttribute {
  readonly what: 'name guard' | 'external id';
  readonly singular: 'category' | 'transaction';
  readonly plural: string;
  readonly attribute: string;
  readonly guardKey: (value: string) => Key;
  readonly recordKey: (id: number) => Key;
  readonly toGuard: (value: string, id: number) => Item;
}

/** @param ids ids of the records that have the value */
function createGuardDrift(
  uniqueAttribute: UniqueAttribute,
  value: string,
  owner: number | undefined,
  ids: readonly number[],
): Drift {
  const { what, singular, plural, guardKey, toGuard } = uniqueAttribute;
  const recorded = owner === undefined ? 'none' : `${singular} ${owner}`;
  const drift = { what, where: JSON.stringify(value), recorded };
  if (ids.length > 1) {
    const sorted = ids.toSorted((a, b) => a - b);
    return { ...drift, recomputed: `${plural} ${sorted.join(' and ')}` };
  }
  const unchangedCondition =
    owner === undefined
      ? { ConditionExpression: 'attribute_not_exists(pk)' }
      : {
          ConditionExpression: `${singular}_id = :owner`,
          ExpressionAttributeValues: { ':owner': owner },
        };
  const [id] = ids;
  if (id === undefined) {
    const release: Write = {
      Delete: { Key: guardKey(value), ...unchangedCondition },
      onConditionFailed: createChangedError,
    };
    const otherValueCondition = 'attribute_not_exists(pk) OR #attribute <> :value';
    const repair = [
      release,
      checkRecord(uniqueAttribute, Number(owner), value, otherValueCondition),
    ];
    return { ...drift, recomputed: 'none', repair };
  }
  const claim: Write = {
    Put: { Item: toGuard(value, id), ...unchangedCondition },
    onConditionFailed: createChangedError,
  };
  const repair = [claim, checkRecord(uniqueAttribute, id, value, '#attribute = :value')];
  return { ...drift, recomputed: `${singular} ${id}`, repair };
}

function checkRecord(
  { recordKey, attribute }: UniqueAttribute,
  id: number,
  value: string,
  condition: string,
): Write {
  return {
    ConditionCheck: {
      Key: recordKey(id),
      ConditionExpression: condition,
      ExpressionAttributeNames: { '#attribute': attribute },
      ExpressionAttributeValues: { ':value': value },
    },
    onConditionFailed: createChangedError,
  };
}

function findSequenceDrifts(keys: Keys, { lastIds, highestIds }: LedgerFigures): Drift[] {
  return SEQUENCE_KINDS.filter((kind) => lastIds[kind] < highestIds[kind]).map((kind) => {
    const highest = highestIds[kind];
    const lowerIdCondition = {
      expression: 'attribute_not_exists(#a0) OR #a0 < :highest',
      values: { ':highest': highest },
      onConditionFailed: createChangedError,
    };
    return {
      what: 'sequence',
      where: `last ${kind} id`,
      recorded: lastIds[kind],
      recomputed: highest,
      repair: [setAttributes(keys.sequence(kind), { [LAST_ID]: highest }, lowerIdCondition)],
    };
  });
}

/** A ledger that was never written to needs no entry in the list of ledgers. */
function findMissingEntry({ registration }: Keys, { rows, lastIds }: LedgerFigures): Drift[] {
  if (rows + lastIds.transaction + lastIds.category === 0) return [];
  return [
    {
      what: 'list of ledgers',
      where: registration.sk,
      recorded: 'nothing',
      recomputed: 'an entry',
      repair: [{ Put: { Item: registration }, onConditionFailed: createNoConditionError }],
    },
  ];
}

function createChangedError(): StaleRecordError {
  return new StaleRecordError('The item of a repair has changed');
}
