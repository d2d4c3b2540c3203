// Adds the names of categories to rows.
import type { NamedTransaction, Transaction } from '../domain/transaction.ts';
import { type CategoryStore, MAX_FIRST_NAMES } from '../store/categories.ts';

type Names = ReadonlyMap<number, string>;

export type CategoryNames = ReturnType<typeof createCategoryNames>;

export function createCategoryNames(categories: Pick<CategoryStore, 'get' | 'readNames'>) {
  /** Reads as many names as most ledgers have, so that a list can read them at the same time as the rows that need them. */
  async function readFirst(): Promise<Names> {
    return await categories.readNames(MAX_FIRST_NAMES);
  }

  /** @param knownNames names that were read already; the other names that the rows need are read here */
  async function addTo(
    rows: readonly Transaction[],
    knownNames: Names = new Map(),
  ): Promise<NamedTransaction[]> {
    const names = await addMissing(knownNames, rows);
    return rows.map((row) => addName(row, names));
  }

  async function addToOne(row: Transaction): Promise<NamedTransaction> {
    return addName(row, await addMissing(new Map(), [row]));
  }

  /** Adds the missing names: those beyond the ones that were read first, and one that a concurrent rename left out. */
  async function addMissing(names: Names, rows: readonly Transaction[]): Promise<Names> {
    const missingIds = new Set(rows.flatMap(({ categoryId }) => categoryId ?? []));
    for (const id of names.keys()) missingIds.delete(id);
    const categoriesRead = await Promise.all([...missingIds].map((id) => categories.get(id)));
    const existingCategories = categoriesRead.filter((category) => category !== undefined);
    return new Map([...names, ...existingCategories.map(({ id, name }) => [id, name] as const)]);
  }

  return { readFirst, addTo, addToOne };
}

function addName(row: Transaction, names: Names): NamedTransaction {
  const { categoryId } = row;
  return { ...row, categoryName: categoryId === null ? undefined : names.get(categoryId) };
}
