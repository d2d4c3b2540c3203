// Fills an empty ledger fast: rows in batches, every count summed on the way and written once at the end.
// What it leaves is what as many single creates would have left (`npm run verify-ledger` agrees).
import { BatchWriteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Category } from '../lib/domain/category.ts';
import type { Transaction } from '../lib/domain/transaction.ts';
import { toCategoryItem } from '../lib/store/category-item.ts';
import type { Item } from '../lib/store/database.ts';
import { createKeys, type Keys } from '../lib/store/keys.ts';
import { CATEGORY_COUNT, type Counters, counterName, createTally } from '../lib/store/tally.ts';
import { toTransactionItem } from '../lib/store/transaction-item.ts';
import { type HouseholdOptions, householdCategories, householdTransactions } from './household.ts';

type Tally = ReturnType<typeof createTally>;

/** As many as one BatchWriteItem takes. */
const BATCH_SIZE = 25;
const CONCURRENT_BATCHES = 8;

export interface BulkTarget {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly ledgerId: string;
  /** Told how many rows are in, after every batch. */
  readonly onProgress?: (rows: number) => void;
}

/** Every category must be among the ones given; a transaction's id is given once. */
export async function bulkLoad(
  target: BulkTarget,
  categories: readonly Category[],
  transactions: Iterable<Transaction>,
): Promise<void> {
  const keys = createKeys(target.ledgerId);
  const tally = createTally(keys);
  await writeAll(target, rows(keys, transactions, tally), target.onProgress);
  await writeAll(target, summary(keys, categories, tally));
}

/** Thirty categories and a history; ids count from 1 in the order of the dates. */
export async function bulkLoadHousehold(
  target: BulkTarget,
  options: Omit<HouseholdOptions, 'categoryIds'>,
): Promise<Category[]> {
  const categories = householdCategories().map((fields, index) => ({
    ...fields,
    id: index + 1,
    transactionCount: 0,
    ...written(options.lastDay, 0),
  }));
  const categoryIds = categories.map(({ id }) => id);
  await bulkLoad(target, categories, numbered({ ...options, categoryIds }));
  return categories;
}

function* numbered(options: HouseholdOptions): Generator<Transaction> {
  let id = 0;
  for (const fields of householdTransactions(options)) {
    id += 1;
    yield { ...fields, id, ...written(fields.date, id) };
  }
}

function written(date: string, order: number) {
  const at = Date.parse(`${date}T12:00:00Z`) + (order % 10_000_000);
  return { createdAt: at, updatedAt: at, version: 1 };
}

function* rows(keys: Keys, transactions: Iterable<Transaction>, tally: Tally): Generator<Item> {
  for (const transaction of transactions) {
    tally.add(transaction);
    yield toTransactionItem(keys, transaction);
  }
}

/** What the ledger's other items say of the rows. */
function* summary(keys: Keys, categories: readonly Category[], tally: Tally): Generator<Item> {
  const countOf = (id: number) =>
    tally.counters.get(counterName(keys.category(id), CATEGORY_COUNT))?.count ?? 0;
  yield* dayItems(tally.counters);
  for (const category of categories) {
    yield toCategoryItem(keys, { ...category, transactionCount: countOf(category.id) });
    yield { ...keys.categoryName(category.name), category_id: category.id };
  }
  yield { ...keys.sequence('transaction'), last: tally.highestId() };
  yield { ...keys.sequence('category'), last: Math.max(0, ...categories.map(({ id }) => id)) };
}

function dayItems(counters: Counters): Iterable<Item> {
  const items = new Map<string, Item>();
  for (const { key, attribute, count } of counters.values()) {
    if (attribute === CATEGORY_COUNT) continue;
    const name = `${key.pk} ${key.sk}`;
    items.set(name, Object.assign(items.get(name) ?? { ...key }, { [attribute]: count }));
  }
  return items.values();
}

async function writeAll(
  target: BulkTarget,
  items: Generator<Item>,
  onProgress: (rows: number) => void = () => undefined,
): Promise<void> {
  let done = 0;
  async function work(): Promise<void> {
    for (let batch = take(items); batch.length > 0; batch = take(items)) {
      await writeBatch(target, batch);
      done += batch.length;
      onProgress(done);
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT_BATCHES }, work));
}

function take(items: Generator<Item>): Item[] {
  const batch: Item[] = [];
  while (batch.length < BATCH_SIZE) {
    const { value, done } = items.next();
    if (done) break;
    batch.push(value);
  }
  return batch;
}

async function writeBatch({ client, tableName }: BulkTarget, batch: Item[]): Promise<void> {
  let left = batch.map((Item) => ({ PutRequest: { Item } }));
  while (left.length > 0) {
    const command = new BatchWriteCommand({ RequestItems: { [tableName]: left } });
    const { UnprocessedItems } = await client.send(command);
    left = (UnprocessedItems?.[tableName] ?? []) as typeof left;
  }
}
