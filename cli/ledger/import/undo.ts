// Lists the imports of a ledger, and undoes an import.

import { pluralize } from '../../../lib/ledger/import/entry.ts';
import {
  announceRemoval,
  createRecordedRows,
  keepRecords,
} from '../../../lib/ledger/import/recorded-rows.ts';
import type { LedgerRow } from '../../../lib/ledger/import/transaction-row.ts';
import { EXIT } from '../../../processes/program.ts';
import { withProgressBar } from '../../progress.ts';
import type { ServiceClient } from '../service-client.ts';
import { readLedger } from './ledger-rows.ts';
import { describeDates, describeRow, print, showSome } from './preview.ts';
import { readRecordedImports, writeParts } from './recorded-imports.ts';
import { deleteRows } from './upload.ts';

export async function listImports(service: ServiceClient): Promise<void> {
  const rows = (await readLedger(service)).filter(({ importId }) => importId !== null);
  const imports = Map.groupBy(rows, ({ importId }) => importId);
  if (imports.size === 0) return console.log('The ledger has no imports.');
  for (const [id, importedRows] of [...imports].toSorted(([first], [second]) =>
    `${first}` < `${second}` ? -1 : 1,
  )) {
    const dates = importedRows.map(({ date }) => date).toSorted();
    const editedCount = importedRows.filter(isEdited).length;
    const editedText = editedCount === 0 ? '' : `, ${editedCount} edited since`;
    print(`${id}: ${pluralize(importedRows.length, 'row')}${describeDates(dates)}${editedText}`);
  }
}

/**
 * Removes the rows of an import, but not its edited rows, unless only a category was added. The categories that the import
 * created stay.
 */
export async function undoImport(
  service: ServiceClient,
  importId: string,
  { isConfirmed }: { readonly isConfirmed: boolean },
): Promise<void> {
  const rows = await readLedger(service, importId);
  const recordedParts = (await readRecordedImports(service)).filter(
    (each) => each.importId === importId,
  );
  if (rows.length + recordedParts.length === 0) {
    print(`The ledger has no rows of the import "${importId}". --list shows the imports in it.`);
    process.exitCode = EXIT.failed;
    return;
  }
  const { isOnlyCategorised } = createRecordedRows(recordedParts);
  const { edited = [], unedited = [] } = Object.groupBy(rows, (row) =>
    isEdited(row) && !isOnlyCategorised(row) ? 'edited' : 'unedited',
  );
  if (!isConfirmed) {
    showSome(`rows to remove (${unedited.length}):`, unedited.map(describeTransaction));
    showRemainingRows(edited);
    console.log('Nothing was removed. Add --yes to remove them.');
    return;
  }
  await writeParts(service, announceRemoval(recordedParts, edited));
  const changedRows = await withProgressBar(unedited.length, (onProgress) =>
    deleteRows(service, unedited, onProgress),
  );
  const remainingRows = [...edited, ...changedRows];
  // Keeps only the records of rows that stay. A row that an undo removes does not count as deleted by hand, so the next import
  // adds it again.
  await writeParts(service, keepRecords(recordedParts, remainingRows));
  showRemainingRows(remainingRows);
  console.log(`${unedited.length - changedRows.length} removed, ${remainingRows.length} left`);
}

function isEdited({ createdAt, updatedAt }: LedgerRow): boolean {
  return updatedAt !== createdAt;
}

function showRemainingRows(rows: readonly LedgerRow[]): void {
  showSome(
    `rows that stay, because they were edited (${rows.length}):`,
    rows.map(describeTransaction),
  );
}

function describeTransaction(row: LedgerRow): string {
  return `  transaction ${row.id}: ${describeRow(row)}`;
}
