// Imports that a ledger has, and the removal of one.

import { counted } from '../../../lib/ledger/import/booking.ts';
import type { LedgerRow } from '../../../lib/ledger/import/plan.ts';
import { EXIT } from '../../../processes/program.ts';
import { withBar } from '../../progress.ts';
import type { ServiceClient } from '../service-client.ts';
import { readLedger } from './ledger-rows.ts';
import { print, rangeOf, showSome, textOf } from './preview.ts';
import { deleteRows } from './upload.ts';

export async function listImports(service: ServiceClient): Promise<void> {
  const rows = (await readLedger(service)).filter(({ importId }) => importId !== null);
  const imports = Map.groupBy(rows, ({ importId }) => importId);
  if (imports.size === 0) return console.log('The ledger has no imports.');
  for (const [id, some] of [...imports].toSorted(([one], [other]) =>
    `${one}` < `${other}` ? -1 : 1,
  )) {
    const dates = some.map(({ date }) => date).toSorted();
    const edited = some.filter(isEdited).length;
    const more = edited === 0 ? '' : `, ${edited} edited since`;
    print(`${id}: ${counted(some.length, 'row')}${rangeOf(dates)}${more}`);
  }
}

/** Rows that were edited stay. Categories that the import has created stay, too. */
export async function undoImport(
  service: ServiceClient,
  importId: string,
  { isConfirmed }: { readonly isConfirmed: boolean },
): Promise<void> {
  const rows = await readLedger(service, importId);
  if (rows.length === 0) {
    print(
      `The ledger has no rows of the import "${importId}". --list shows the imports that it has.`,
    );
    process.exitCode = EXIT.failed;
    return;
  }
  const { edited = [], unedited = [] } = Object.groupBy(rows, (row) =>
    isEdited(row) ? 'edited' : 'unedited',
  );
  if (!isConfirmed) {
    showSome(`rows to remove (${unedited.length}):`, unedited.map(lineOf));
    showLeft(edited);
    console.log('Nothing was removed. Add --yes to remove them.');
    return;
  }
  const changed = await withBar(unedited.length, (onProgress) =>
    deleteRows(service, unedited, onProgress),
  );
  showLeft([...edited, ...changed]);
  console.log(
    `${unedited.length - changed.length} removed, ${edited.length + changed.length} left`,
  );
}

function isEdited({ createdAt, updatedAt }: LedgerRow): boolean {
  return updatedAt !== createdAt;
}

function showLeft(rows: readonly LedgerRow[]): void {
  showSome(`rows that stay, because they were edited (${rows.length}):`, rows.map(lineOf));
}

function lineOf(row: LedgerRow): string {
  return `  transaction ${row.id}: ${textOf(row)}`;
}
