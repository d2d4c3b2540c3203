// The part of a ledger that clients determine, to compare one ledger with another.
import type { TransactionFields } from '../../../lib/ledger/domain/transaction.ts';
import type { Ledger } from '../../../lib/ledger/ledger.ts';

/** The filter of a query for all transactions. */
export const EVERYTHING = {
  type: undefined,
  categoryId: undefined,
  startDate: undefined,
  endDate: undefined,
};

/** Reads rows newest first. Ids and times are left out, because they differ from run to run. */
export async function readContents({ transactions, categories, importedRows }: Ledger) {
  const rows: TransactionFields[] = [];
  for (let page = 1, hasNext = true; hasNext; page += 1) {
    const { items, pagination } = await transactions.list({ ...EVERYTHING, page, perPage: 100 });
    rows.push(...items.map(pickFields));
    hasNext = pagination.hasNext;
  }
  const stored = await categories.list({ activeOnly: false });
  const { parts: imports } = await importedRows.readPage(undefined);
  return {
    imports,
    transactions: rows,
    categories: stored.map(({ name, description, color, isActive, transactionCount }) => ({
      name,
      description,
      color,
      isActive,
      transactionCount,
    })),
  };
}

function pickFields(fields: TransactionFields): TransactionFields {
  const { description, amount, type, categoryId, date, notes } = fields;
  return { description, amount, type, categoryId, date, notes };
}
