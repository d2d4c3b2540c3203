// Makes the id of an import from the time and the file's name, so that a person recognizes it in a list.
import { MAX_IMPORT_ID_LENGTH } from '../domain/import-part.ts';

/**
 * @param file name of the file, without folders
 * @param usedIds ids of the ledger's imports: two files with the same name may be imported in the same second
 */
export function makeImportId(
  file: string,
  usedIds: ReadonlySet<string | null>,
  now: Date = new Date(),
): string {
  const time = now.toISOString().slice(0, 19).replace('T', '-').replaceAll(':', '');
  const name = file.replace(/[^\p{L}\p{N}._-]+/gu, '-');
  for (let number = 1; ; number += 1) {
    const prefix = number === 1 ? time : `${time}-${number}`;
    const id = [...`${prefix}-${name}`].slice(0, MAX_IMPORT_ID_LENGTH).join('');
    if (!usedIds.has(id)) return id;
  }
}

/** @param rowsAndRecords the imported rows and the records of imports in a ledger */
export function listImportIds(
  ...rowsAndRecords: readonly (readonly { readonly importId: string | null }[])[]
): ReadonlySet<string | null> {
  return new Set(rowsAndRecords.flat().map(({ importId }) => importId));
}
