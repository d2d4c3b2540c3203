// Compares the guards of category names with the names that categories bear.
import type { Category } from '../../domain/category.ts';
import { toNameGuard } from '../category-names.ts';
import type { Write } from '../database.ts';
import type { Keys } from '../keys.ts';
import { changedMeanwhile, type Drift } from './drift.ts';

const BEARS_NAME = '#name = :name';
const BEARS_ANOTHER_NAME = 'attribute_not_exists(pk) OR #name <> :name';
const IS_FREE = 'attribute_not_exists(pk)';
const IS_OF_OWNER = 'category_id = :owner';

export function guardDrifts(
  keys: Keys,
  categories: readonly Category[],
  guards: ReadonlyMap<string, number>,
): Drift[] {
  const bearers = Map.groupBy(categories, ({ name }) => name);
  const names = new Set([...guards.keys(), ...bearers.keys()]);
  return [...names].flatMap((name) => {
    const owner = guards.get(name);
    const ids = (bearers.get(name) ?? []).map(({ id }) => id);
    if (ids.length === 1 && ids[0] === owner) return [];
    return [guardDrift(keys, name, owner, ids)];
  });
}

function guardDrift(
  keys: Keys,
  name: string,
  owner: number | undefined,
  [bearer, ...others]: readonly number[],
): Drift {
  const drift = {
    what: 'name guard',
    where: JSON.stringify(name),
    recorded: owner === undefined ? 'nobody' : `category ${owner}`,
  } as const;
  if (others.length > 0) {
    return { ...drift, recomputed: `categories ${[bearer, ...others].join(' and ')}` };
  }
  if (bearer === undefined) {
    return { ...drift, recomputed: 'nobody', mending: release(keys, name, Number(owner)) };
  }
  return { ...drift, recomputed: `category ${bearer}`, mending: claim(keys, name, bearer, owner) };
}

function release(keys: Keys, name: string, owner: number): Write[] {
  const remove: Write = {
    Delete: { Key: keys.categoryName(name), ...isOf(owner) },
    onConditionFailed: changedMeanwhile,
  };
  return [remove, whileCategory(keys, owner, name, BEARS_ANOTHER_NAME)];
}

function claim(keys: Keys, name: string, bearer: number, owner: number | undefined): Write[] {
  const put: Write = {
    Put: { Item: toNameGuard(keys, name, bearer), ...isOf(owner) },
    onConditionFailed: changedMeanwhile,
  };
  return [put, whileCategory(keys, bearer, name, BEARS_NAME)];
}

function isOf(owner: number | undefined) {
  return owner === undefined
    ? { ConditionExpression: IS_FREE }
    : { ConditionExpression: IS_OF_OWNER, ExpressionAttributeValues: { ':owner': owner } };
}

function whileCategory(keys: Keys, id: number, name: string, condition: string): Write {
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
