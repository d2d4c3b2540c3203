// Adds the names of categories to rows.
import type { Transaction, TransactionWithCategoryName } from '../domain/transaction.ts';
import { type CategoryStore, MAX_FIRST_NAMES } from '../store/categories.ts';

type Names = ReadonlyMap<number, string>;

export type CategoryNames = ReturnType<typeof createCategoryNames>;

export function createCategoryNames(categories: Pick<CategoryStore, 'get' | 'readNames'>) {
  /** Reads names of categories, up to a number that most ledgers do not reach. A list reads them in parallel with its rows. */
  async function readFirst(): Promise<Names> {
    return await categories.readNames(MAX_FIRST_NAMES);
  }

  /** @param knownNames names that were already read; those that are missing are read here */
  async function addTo(
    rows: readonly Transaction[],
    knownNames: Names = new Map(),
  ): Promise<TransactionWithCategoryName[]> {
    const names = await addMissing(knownNames, rows);
    return rows.map((row) => addName(row, names));
  }

  async function addToOne(row: Transaction): Promise<TransactionWithCategoryName> {
    return addName(row, await addMissing(new Map(), [row]));
  }

  /** Reads the names that rows need and `names` lacks: those that `readFirst` left out, or that were renamed meanwhile. */
  async function addMissing(names: Names, rows: readonly Transaction[]): Promise<Names> {
    const missingIds = new Set(rows.flatMap(({ categoryId }) => categoryId ?? []));
    for (const id of names.keys()) missingIds.delete(id);
    const categoriesRead = await Promise.all([...missingIds].map((id) => categories.get(id)));
    const existingCategories = categoriesRead.filter((category) => category !== undefined);
    return new Map([...names, ...existingCategories.map(({ id, name }) => [id, name] as const)]);
  }

  return { readFirst, addTo, addToOne };
}

function addName(row: Transaction, names: Names): TransactionWithCategoryName {
  const { categoryId } = row;
  return { ...row, categoryName: categoryId === null ? undefined : names.get(categoryId) };
}
