// Fingerprints that a ledger keeps of imported rows: the row's identity, and its contents. With them, a later import knows a
// row that was deleted by hand, and an undo knows a row that only a category was added to.
import { hash } from './row-ids.ts';
import type { StatementRow, TransactionRow } from './transaction-row.ts';

/** An import in the service's list. */
export interface RecordedImport {
  readonly importId: string;
  readonly rows: readonly string[];
}

const HASH_LENGTH = 16;

/** Undefined for a row that has no identity, as in the export of a ledger. */
export function recordRow(row: TransactionRow): string | undefined {
  return row.externalId === null ? undefined : identify(row.externalId) + describe(row);
}

type Identified = TransactionRow & Pick<StatementRow, 'otherIds'>;

export function createRecordedRows(imports: readonly RecordedImport[]) {
  const contents = new Map<string, string>();
  for (const { rows } of imports)
    for (const row of rows) contents.set(row.slice(0, HASH_LENGTH), row.slice(HASH_LENGTH));

  function find({ externalId }: TransactionRow): string | undefined {
    return externalId === null ? undefined : contents.get(identify(externalId));
  }

  function isKnown(externalId: string | null): boolean {
    return externalId !== null && contents.has(identify(externalId));
  }

  return {
    has: ({ externalId, otherIds }: Identified): boolean =>
      contents.size > 0 && (isKnown(externalId) || (otherIds?.().some(isKnown) ?? false)),
    /** The row is as it was imported, without a category, except that it may have one now. */
    isOnlyCategorised: (row: TransactionRow): boolean =>
      find(row) === describe({ ...row, category: null }),
    /** It was imported with the date, type and amount of the other row, which were edited since. */
    wasImportedAs: (row: TransactionRow, { date, type, amount }: TransactionRow): boolean => {
      const record = find(row);
      return (
        record !== undefined &&
        [null, row.category].some(
          (category) => describe({ ...row, date, type, amount, category }) === record,
        )
      );
    },
  };
}

export type RecordedRows = ReturnType<typeof createRecordedRows>;

/** Leaves the recorded rows of some transactions. */
export function keepRecords(
  rows: readonly string[],
  transactions: readonly TransactionRow[],
): readonly string[] {
  const kept = new Set(
    transactions.flatMap(({ externalId }) => (externalId === null ? [] : identify(externalId))),
  );
  return rows.filter((row) => kept.has(row.slice(0, HASH_LENGTH)));
}

function identify(externalId: string): string {
  return hash({ externalId }).slice(0, HASH_LENGTH);
}

function describe({ date, description, amount, type, notes, category }: TransactionRow): string {
  return hash({ date, description, amount, type, notes, category }).slice(0, HASH_LENGTH);
}
