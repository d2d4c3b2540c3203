// Finds rows of a file that were imported under another name of the account, or without a name. The identities of such rows differ
// only by that name.
import { findOverlap, isSameAccount } from './overlapping-imports.ts';
import type { RecordedRows } from './recorded-rows.ts';
import type { LedgerRow, StatementRow } from './transaction-row.ts';

export interface OtherName {
  /** The other name; undefined for rows that were imported without one. */
  readonly name: string | undefined;
  /** Rows that the ledger has from imports under this name, which share so many rows that it must be the same account. */
  readonly pairs: ReadonlyMap<StatementRow, LedgerRow>;
  /** Rows that were imported under this name, and deleted since. */
  readonly deleted: readonly StatementRow[];
  /** Rows that were deleted since if the other name means the same account, which nothing proves. */
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
  const matched = new Set(pairs.values());
  const unmatched = ledger.filter((transaction) => !matched.has(transaction));
  const byExternalId = new Map(
    unmatched.map((transaction) => [transaction.externalId, transaction]),
  );
  return names.map((name): OtherName => {
    const all = new Map<StatementRow, LedgerRow>();
    const deleted: StatementRow[] = [];
    for (const row of unmatchedRows) {
      const externalId = row.idWithAccount?.(name) ?? null;
      const transaction = externalId === null ? undefined : byExternalId.get(externalId);
      if (transaction) all.set(row, transaction);
      else if (recorded?.has({ ...row, externalId, otherIds: () => [] })) deleted.push(row);
    }
    const matchedHere = new Set(all.values());
    const deletedRows = new Set(deleted);
    const unknown = unmatchedRows.filter((row) => !all.has(row) && !deletedRows.has(row));
    const stillUnmatched = unmatched.filter((transaction) => !matchedHere.has(transaction));
    const overlap = findOverlap(rows, all, stillUnmatched);
    const imports = new Set(
      overlap.sharedRowsByImport.keys().filter((id) => isSameAccount(overlap, id, unknown)),
    );
    const proven = new Map([...all].filter(([, { importId }]) => imports.has(importId)));
    return proven.size === 0
      ? { name, pairs: proven, deleted: [], possiblyDeleted: deleted }
      : { name, pairs: proven, deleted, possiblyDeleted: [] };
  });
}

/** Lists other names of the account. Two names mean two accounts, unless they differ only in case. */
function listNames(
  account: string | undefined,
  known: readonly string[],
): readonly (string | undefined)[] {
  if (account === undefined) return known;
  const differsInCase = (name: string) =>
    name !== account && name.toLowerCase() === account.toLowerCase();
  return [undefined, ...known.filter(differsInCase)];
}
