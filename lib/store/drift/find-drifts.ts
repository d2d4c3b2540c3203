// Compares what a ledger has recorded with what its rows say, and tells the writes that would mend each difference.
import type { Category } from '../../domain/category.ts';
import { TRANSACTION_COUNT } from '../category-item.ts';
import type { Write } from '../database.ts';
import { describeCounter } from '../day-counts.ts';
import { type Keys, SEQUENCE_KINDS } from '../keys.ts';
import { LAST_ID } from '../sequences.ts';
import type { Counter } from '../tally.ts';
import { toTransactionItem } from '../transaction-item.ts';
import { addTo, setOn } from '../update-writes.ts';
import { changedMeanwhile, type Drift } from './drift.ts';
import type { LedgerFigures } from './ledger-figures.ts';
import { guardDrifts } from './name-guard-drift.ts';
import type { UnreadableRow, WrongRow } from './row-check.ts';

export function findDrifts(keys: Keys, figures: LedgerFigures): Drift[] {
  return [
    ...counterDrifts(keys, figures),
    ...figures.wrongRows.map((row) => rowDrift(keys, row)),
    ...unknownCategories(figures),
    ...guardDrifts(keys, figures.categories, figures.guards),
    ...sequenceDrifts(keys, figures),
  ];
}

function counterDrifts(keys: Keys, { recorded, recomputed, categories }: LedgerFigures): Drift[] {
  const names = new Set([...recorded.keys(), ...recomputed.keys()]);
  const known = new Set(categories.map(({ id }) => keys.category(id).sk));
  return [...names].flatMap((name) => {
    const was = recorded.get(name);
    const is = recomputed.get(name);
    const counter = was ?? is;
    if (!counter || was?.count === (is?.count ?? 0) || (!was && is?.count === 0)) return [];
    // The count of a category that is not there is told as such, and not brought into being.
    if (counter.attribute === TRANSACTION_COUNT && !known.has(counter.key.sk)) return [];
    return [counterDrift(keys, counter, was?.count, is?.count ?? 0)];
  });
}

function counterDrift(
  keys: Keys,
  { key, attribute }: Counter,
  recorded: number | undefined,
  recomputed: number,
): Drift {
  const isOfCategory = key.pk === keys.categories;
  const by = new Map([[attribute, recomputed - (recorded ?? 0)]]);
  const unchanged =
    recorded === undefined
      ? { expression: 'attribute_not_exists(#a0)' }
      : { expression: '#a0 = :recorded', values: { ':recorded': recorded } };
  return {
    what: isOfCategory ? 'category count' : 'day count',
    where: isOfCategory
      ? `category ${Number(key.sk)}`
      : `${describeCounter(key.sk, attribute)}, ${keys.describeDays(key.pk)}`,
    recorded: recorded ?? 'nothing',
    recomputed,
    mending: [addTo(key, by, { ...unchanged, onConditionFailed: changedMeanwhile })],
  };
}

function rowDrift(keys: Keys, { item, transaction, wrong }: WrongRow | UnreadableRow): Drift {
  const drift = { what: 'row keys', where: `row ${item.pk}`, recorded: told(item, wrong) } as const;
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
  return { ...drift, recomputed: told(Item, wrong), mending: [put] };
}

function told(item: Readonly<Record<string, unknown>>, names: readonly string[]): string {
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
      mending: [setOn(keys.sequence(kind), { [LAST_ID]: highest }, isBehind)],
    };
  });
}
