// Compares what a ledger has recorded with what its rows say. A drift is one difference, with the writes that repair it.
import type { Category } from '../../domain/category.ts';
import { StaleRecordError } from '../../errors.ts';
import { TRANSACTION_COUNT, toNameGuard } from '../categories.ts';
import type { Write } from '../database.ts';
import { describeCounter, isSum } from '../day-counts.ts';
import { type Key, type Keys, LAST_ID, periodOf, SEQUENCE_KINDS } from '../keys.ts';
import type { Counter } from '../tally.ts';
import { toExternalIdGuard, toTransactionItem } from '../transactions.ts';
import { addTo, setOn } from '../update-writes.ts';
import type { CheckedRow, ExternalIdOwners, LedgerFigures } from './figures.ts';

export interface Drift {
  readonly what:
    | 'day count'
    | 'day sums'
    | 'category count'
    | 'row keys'
    | 'category of a row'
    | 'name guard'
    | 'external id'
    | 'sequence';
  readonly where: string;
  readonly recorded: string | number;
  readonly recomputed: string | number;
  /** Undefined when it cannot be known which side is right. The writes fail when the items have changed. */
  readonly repair?: readonly Write[];
}

export function describeDrift({ what, where, recorded, recomputed, repair }: Drift): string {
  const hint = repair ? '' : ' (needs a person to decide)';
  return `${what}, ${where}: recorded ${recorded}, recomputed ${recomputed}${hint}`;
}

export function findDrifts(keys: Keys, figures: LedgerFigures): Drift[] {
  return [
    ...counterDrifts(keys, figures),
    ...figures.wrongRows.map((row) => rowDrift(keys, row)),
    ...unknownCategories(figures),
    ...guardDrifts(keys, figures),
    ...figures.wrongExternalIds
      .entries()
      .map(([externalId, owners]) => externalIdDrift(keys, externalId, owners)),
    ...sequenceDrifts(keys, figures),
  ];
}

function counterDrifts(keys: Keys, { recorded, recomputed, categories }: LedgerFigures): Drift[] {
  const names = new Set([...recorded.keys(), ...recomputed.keys()]);
  const known = new Set(categories.map(({ id }) => keys.category(id).sk));
  const wrong = [...names].flatMap((name): WrongCounter[] => {
    const was = recorded.get(name);
    const is = recomputed.get(name);
    const counter = was ?? is;
    if (!counter || (was?.count ?? 0n) === (is?.count ?? 0n)) return [];
    // A category that does not exist is a drift of its own; its count is not created.
    if (counter.attribute === TRANSACTION_COUNT && !known.has(counter.key.sk)) return [];
    const { key, attribute } = counter;
    return [{ key, attribute, recorded: was?.count, recomputed: is?.count ?? 0n }];
  });
  const { sums = [], counts = [] } = Object.groupBy(wrong, ({ attribute }) =>
    isSum(attribute) ? 'sums' : 'counts',
  );
  const byItem = Map.groupBy(sums, ({ key: { pk, sk } }) => `${pk} ${sk}`);
  return [
    ...counts.map((each) => countDrift(keys, each)),
    ...byItem.values().flatMap((ofItem) => {
      // An item's attributes come in any order; a drift reads the same each time.
      const [first, ...rest] = ofItem.toSorted((one, other) =>
        one.attribute < other.attribute ? -1 : 1,
      );
      return first ? [sumDrift(keys, first.key, [first, ...rest])] : [];
    }),
  ];
}

interface WrongCounter extends Omit<Counter, 'count'> {
  readonly recorded: bigint | undefined;
  readonly recomputed: bigint;
}

function countDrift(keys: Keys, counter: WrongCounter): Drift {
  const { key, attribute, recorded, recomputed } = counter;
  const isOfCategory = key.pk === keys.categories;
  return {
    what: isOfCategory ? 'category count' : 'day count',
    where: isOfCategory
      ? `category ${Number(key.sk)}`
      : `${describeCounter(key.sk, attribute)}, ${keys.describeDays(key.pk)}`,
    recorded: recorded === undefined ? 'nothing' : Number(recorded),
    recomputed: Number(recomputed),
    repair: [correct(key, [counter])],
  };
}

/** One for an item: a ledger from before there were sums has none at all. */
function sumDrift(keys: Keys, key: Key, sums: readonly WrongCounter[]): Drift {
  const show = (side: 'recorded' | 'recomputed') =>
    sums.map((sum) => `${sum.attribute}=${sum[side] ?? 'nothing'}`).join(' ');
  return {
    what: 'day sums',
    where: `cents of ${periodOf(key.sk)}, ${keys.describeDays(key.pk)}`,
    recorded: show('recorded'),
    recomputed: show('recomputed'),
    repair: [correct(key, sums)],
  };
}

function correct(key: Key, counters: readonly WrongCounter[]): Write {
  const by = counters.map(({ attribute, recorded = 0n, recomputed }) => {
    return [attribute, recomputed - recorded] as const;
  });
  const unchanged = counters.map(({ recorded }, n) =>
    recorded === undefined ? `attribute_not_exists(#a${n})` : `#a${n} = :r${n}`,
  );
  const values = counters.flatMap(({ recorded }, n) =>
    recorded === undefined ? [] : [[`:r${n}`, recorded]],
  );
  return addTo(key, new Map(by), {
    expression: unchanged.join(' AND '),
    values: Object.fromEntries(values),
    onConditionFailed: changedMeanwhile,
  });
}

function rowDrift(keys: Keys, { item, transaction, wrong }: CheckedRow): Drift {
  const where = `row ${item.pk}`;
  const drift = { what: 'row keys', where, recorded: describeAttributes(item, wrong) } as const;
  if (!transaction) return { ...drift, recomputed: 'nothing: the row cannot be read' };
  const Item = toTransactionItem(keys, transaction);
  const put: Write = {
    Put: {
      Item,
      ConditionExpression: 'version = :version',
      ExpressionAttributeValues: { ':version': transaction.version },
    },
    onConditionFailed: changedMeanwhile,
  };
  return { ...drift, recomputed: describeAttributes(Item, wrong), repair: [put] };
}

function describeAttributes(
  item: Readonly<Record<string, unknown>>,
  names: readonly string[],
): string {
  return names.map((name) => `${name}=${item[name] ?? 'nothing'}`).join(' ');
}

function unknownCategories({ categories, referredTo }: LedgerFigures): Drift[] {
  const known = new Set(categories.map(({ id }: Category) => id));
  return [...referredTo]
    .filter((id) => !known.has(id))
    .map((id) => ({
      what: 'category of a row',
      where: `category ${id}`,
      recorded: 'rows that refer to it',
      recomputed: 'no such category',
    }));
}

function guardDrifts(keys: Keys, { categories, guards }: LedgerFigures): Drift[] {
  const byName = Map.groupBy(categories, ({ name }) => name);
  const names = new Set([...guards.keys(), ...byName.keys()]);
  return [...names].flatMap((name) => {
    const owner = guards.get(name);
    const ids = (byName.get(name) ?? []).map(({ id }) => id);
    if (ids.length === 1 && ids[0] === owner) return [];
    return [guardDrift(keys, name, owner, ids)];
  });
}

/** @param ids the categories that have the name */
function guardDrift(
  keys: Keys,
  name: string,
  owner: number | undefined,
  [id, ...others]: readonly number[],
): Drift {
  const drift = {
    what: 'name guard',
    where: JSON.stringify(name),
    recorded: owner === undefined ? 'nobody' : `category ${owner}`,
  } as const;
  if (others.length > 0) {
    return { ...drift, recomputed: `categories ${[id, ...others].join(' and ')}` };
  }
  const isUnchanged =
    owner === undefined
      ? { ConditionExpression: 'attribute_not_exists(pk)' }
      : {
          ConditionExpression: 'category_id = :owner',
          ExpressionAttributeValues: { ':owner': owner },
        };
  if (id === undefined) {
    const release: Write = {
      Delete: { Key: keys.categoryName(name), ...isUnchanged },
      onConditionFailed: changedMeanwhile,
    };
    const hasOtherName = 'attribute_not_exists(pk) OR #name <> :name';
    const repair = [release, checkName(keys, Number(owner), name, hasOtherName)];
    return { ...drift, recomputed: 'nobody', repair };
  }
  const claim: Write = {
    Put: { Item: toNameGuard(keys, name, id), ...isUnchanged },
    onConditionFailed: changedMeanwhile,
  };
  const repair = [claim, checkName(keys, id, name, '#name = :name')];
  return { ...drift, recomputed: `category ${id}`, repair };
}

function externalIdDrift(
  keys: Keys,
  externalId: string,
  { rows: [id, ...others], guard }: ExternalIdOwners,
): Drift {
  const drift = {
    what: 'external id',
    where: JSON.stringify(externalId),
    recorded: guard === undefined ? 'nobody' : `transaction ${guard}`,
  } as const;
  if (others.length > 0) {
    return {
      ...drift,
      recomputed: `transactions ${[id, ...others].toSorted((one = 0, other = 0) => one - other).join(' and ')}`,
    };
  }
  const unchanged =
    guard === undefined
      ? { ConditionExpression: 'attribute_not_exists(pk)' }
      : {
          ConditionExpression: 'transaction_id = :guard',
          ExpressionAttributeValues: { ':guard': guard },
        };
  if (id === undefined) {
    const release: Write = {
      Delete: { Key: keys.externalId(externalId), ...unchanged },
      onConditionFailed: changedMeanwhile,
    };
    const hasOther = 'attribute_not_exists(pk) OR external_id <> :external_id';
    const repair = [release, checkExternalId(keys, Number(guard), externalId, hasOther)];
    return { ...drift, recomputed: 'nobody', repair };
  }
  const claim: Write = {
    Put: { Item: toExternalIdGuard(keys, externalId, id), ...unchanged },
    onConditionFailed: changedMeanwhile,
  };
  const repair = [claim, checkExternalId(keys, id, externalId, 'external_id = :external_id')];
  return { ...drift, recomputed: `transaction ${id}`, repair };
}

function checkExternalId(keys: Keys, id: number, externalId: string, condition: string): Write {
  return {
    ConditionCheck: {
      Key: keys.transaction(id),
      ConditionExpression: condition,
      ExpressionAttributeValues: { ':external_id': externalId },
    },
    onConditionFailed: changedMeanwhile,
  };
}

function checkName(keys: Keys, id: number, name: string, condition: string): Write {
  return {
    ConditionCheck: {
      Key: keys.category(id),
      ConditionExpression: condition,
      ExpressionAttributeNames: { '#name': 'name' },
      ExpressionAttributeValues: { ':name': name },
    },
    onConditionFailed: changedMeanwhile,
  };
}

function sequenceDrifts(keys: Keys, { lastIds, highestIds }: LedgerFigures): Drift[] {
  return SEQUENCE_KINDS.filter((kind) => lastIds[kind] < highestIds[kind]).map((kind) => {
    const highest = highestIds[kind];
    const isBehind = {
      expression: 'attribute_not_exists(#a0) OR #a0 < :highest',
      values: { ':highest': highest },
      onConditionFailed: changedMeanwhile,
    };
    return {
      what: 'sequence',
      where: `last ${kind} id`,
      recorded: lastIds[kind],
      recomputed: highest,
      repair: [setOn(keys.sequence(kind), { [LAST_ID]: highest }, isBehind)],
    };
  });
}

function changedMeanwhile(): StaleRecordError {
  return new StaleRecordError('The item of a repair has changed');
}
