// Finds rows of a file that were imported under another name of the account, or without a name. The identities of such rows differ
// only by that name.
import { findOverlap, isSameAccount } from './overlapping-imports.ts';
import type { RecordedRows } from './recorded-rows.ts';
import type { LedgerRow, StatementRow } from './transaction-row.ts';

export interface OtherName {
  /** The other name; undefined for rows that were imported without one. */
  readonly name: string | undefined;
  /** Rows that the ledger has from imports under this name: so many rows are equal that it must be the same account. */
  readonly pairs: ReadonlyMap<StatementRow, LedgerRow>;
  /** Rows that were imported under this name, and deleted since. */
  readonly deleted: readonly StatementRow[];
  /** Rows that were deleted since, but only if the other name means the same account, which nothing proves. */
  readonly possiblyDeleted: readonly StatementRow[];
}

interface Search {
  /** All rows of the file. */
  readonly rows: readonly StatementRow[];
  readonly ledger: readonly LedgerRow[];
  /** Rows that were found under the file's own name. */
  readonly pairs: ReadonlyMap<StatementRow, LedgerRow>;
  readonly recorded: RecordedRows | undefined;
  /** The name that the user gave the account for this file. */
  readonly account: string | undefined;
}

export function findOtherNames(search: Search): readonly OtherName[] {
  const { rows, ledger, pairs, account, recorded } = search;
  const names = listNames(account, recorded?.accounts ?? []);
  const unmatchedRows = names.length === 0 ? [] : rows.filter((row) => !pairs.has(row));
  if (unmatchedRows.length === 0) return [];
  const matchedTransactions = new Set(pairs.values());
  const unmatchedTransactions = ledger.filter(
    (transaction) => !matchedTransactions.has(transaction),
  );
  const byExternalId = new Map(
    unmatchedTransactions.map((transaction) => [transaction.externalId, transaction]),
  );
  return names.map((name): OtherName => {
    const pairsUnderName = new Map<StatementRow, LedgerRow>();
    const deleted: StatementRow[] = [];
    for (const row of unmatchedRows) {
      const externalId = row.idWithAccount?.(name) ?? null;
      const transaction = externalId === null ? undefined : byExternalId.get(externalId);
      if (transaction) pairsUnderName.set(row, transaction);
      else if (recorded?.has({ ...row, externalId, otherIds: () => [] })) deleted.push(row);
    }
    const pairedTransactions = new Set(pairsUnderName.values());
    const deletedRows = new Set(deleted);
    const unknownRows = unmatchedRows.filter(
      (row) => !pairsUnderName.has(row) && !deletedRows.has(row),
    );
    const remainingTransactions = unmatchedTransactions.filter(
      (transaction) => !pairedTransactions.has(transaction),
    );
    const overlap = findOverlap(rows, pairsUnderName, remainingTransactions);
    const imports = new Set(
      overlap.sharedRowsByImport.keys().filter((id) => isSameAccount(overlap, id, unknownRows)),
    );
    const provenPairs = new Map(
      [...pairsUnderName].filter(([, { importId }]) => imports.has(importId)),
    );
    return provenPairs.size === 0
      ? { name, pairs: provenPairs, deleted: [], possiblyDeleted: deleted }
      : { name, pairs: provenPairs, deleted, possiblyDeleted: [] };
  });
}

/** Lists other names of the account. Two names mean two accounts, unless they differ only in case. */
function listNames(
  account: string | undefined,
  knownNames: readonly string[],
): readonly (string | undefined)[] {
  if (account === undefined) return knownNames;
  const differsInCase = (name: string) =>
    name !== account && name.toLowerCase() === account.toLowerCase();
  return [undefined, ...knownNames.filter(differsInCase)];
}
