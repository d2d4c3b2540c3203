// Creates the items of a whole ledger: the rows, and then the counts and the other items that depend on the rows.
import type { Category } from '../../lib/ledger/domain/category.ts';
import type { Transaction } from '../../lib/ledger/domain/transaction.ts';
import {
  TRANSACTION_COUNT,
  toCategoryItem,
  toNameGuard,
} from '../../lib/ledger/store/categories.ts';
import { createKeys, LAST_ID } from '../../lib/ledger/store/keys.ts';
import { createSchema } from '../../lib/ledger/store/schema.ts';
import {
  type Counters,
  counterName,
  countTransaction,
  emptyTally,
} from '../../lib/ledger/store/tally.ts';
import { toTransactionItem } from '../../lib/ledger/store/transactions.ts';
import type { Item } from '../../lib/shared/database.ts';

export function createLedgerItems(ledgerId: string, categories: readonly Category[]) {
  const keys = createKeys(ledgerId);
  const tally = emptyTally();
  const { stamp } = createSchema();

  function* rows(transactions: Iterable<Transaction>): Generator<Item> {
    for (const transaction of transactions) {
      countTransaction(keys, tally, transaction);
      yield stamp(toTransactionItem(keys, transaction));
    }
  }

  /** Yields the other items. The caller must consume all rows first, because the items count them. */
  function* summary(): Generator<Item> {
    for (const item of createSummaryItems()) yield stamp(item);
  }

  function* createSummaryItems(): Generator<Item> {
    yield* createDayItems(tally.counters);
    for (const category of categories) {
      yield toCategoryItem(keys, { ...category, transactionCount: countTransactions(category) });
      yield toNameGuard(keys, category.name, category.id);
    }
    yield { ...keys.sequence('transaction'), [LAST_ID]: tally.highestId };
    yield {
      ...keys.sequence('category'),
      [LAST_ID]: Math.max(0, ...categories.map(({ id }) => id)),
    };
    yield keys.registration;
  }

  function countTransactions({ id }: Category): number {
    const counter = tally.counters.get(counterName(keys.category(id), TRANSACTION_COUNT));
    return Number(counter?.count ?? 0);
  }

  return { rows, summary };
}

function createDayItems(counters: Counters): Iterable<Item> {
  const items = new Map<string, Item>();
  for (const { key, attribute, count } of counters.values()) {
    if (attribute === TRANSACTION_COUNT) continue;
    const name = `${key.pk} ${key.sk}`;
    items.set(name, Object.assign(items.get(name) ?? { ...key }, { [attribute]: count }));
  }
  return items.values();
}
