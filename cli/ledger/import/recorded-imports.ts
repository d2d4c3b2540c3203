// Reads and writes what the ledger records of imports, in parts.
import { MAX_IMPORT_PARTS, MAX_ROWS_OF_PART } from '../../../lib/ledger/domain/import-part.ts';
import { MAX_BULK_ITEMS } from '../../../lib/ledger/domain/transaction.ts';
import type { ImportParts } from '../../../lib/ledger/http/api-types.ts';
import type { Pair } from '../../../lib/ledger/import/possible-duplicates.ts';
import { type RecordedImport, recordRow } from '../../../lib/ledger/import/recorded-rows.ts';
import type { TransactionRow } from '../../../lib/ledger/import/transaction-row.ts';
import type { ServiceClient } from '../service-client.ts';

/** All parts of one import together. */
export interface StoredImport extends RecordedImport {
  readonly parts: number;
}

export async function readRecordedImports(
  service: ServiceClient,
): Promise<readonly StoredImport[]> {
  const found = new Map<string, { importId: string; rows: string[]; parts: number }>();
  for (let next: string | null = ''; next !== null; ) {
    const page: ImportParts = await service.requestJson<'listImports'>('GET', `/imports?${next}`);
    for (const part of page.data) {
      const { import_id: importId } = part;
      const known = found.get(importId) ?? { importId, rows: [], parts: 0 };
      found.set(importId, known);
      for (const row of part.rows) known.rows.push(row);
      known.parts = Math.max(known.parts, part.part);
    }
    next = page.next;
  }
  return [...found.values()];
}

/**
 * Records rows as soon as they are created, so that the record of an import that is interrupted lacks its last rows at most: a
 * row that is in no record, and was deleted by hand, would return with the next file.
 * @param total rows that the import sends
 */
export function createRecorder(
  service: ServiceClient,
  { importId, total }: { readonly importId: string; readonly total: number },
) {
  const rowsOfPart = MAX_BULK_ITEMS * Math.ceil(total / (MAX_BULK_ITEMS * MAX_IMPORT_PARTS));
  let part = 1;
  let rows: string[] = [];
  return {
    record: async (created: readonly TransactionRow[]): Promise<void> => {
      const added = created.flatMap((row) => recordRow(row) ?? []);
      if (added.length === 0) return;
      if (rows.length + added.length > rowsOfPart) {
        part += 1;
        rows = [];
      }
      rows.push(...added);
      await writePart(service, { importId, part, rows });
    },
  };
}

/**
 * Completes the records of imports that were interrupted.
 * @param imports all that are recorded
 */
export async function recordFoundRows(
  service: ServiceClient,
  imports: readonly StoredImport[],
  found: readonly Pair[],
): Promise<void> {
  const byImport = Map.groupBy(found, ({ there }) => there.importId ?? '');
  for (const [importId, pairs] of byImport) {
    const { parts = 0 } = imports.find((each) => each.importId === importId) ?? {};
    const rows = pairs.flatMap(({ row }) => recordRow(row) ?? []);
    if (parts < MAX_IMPORT_PARTS && rows.length <= MAX_ROWS_OF_PART)
      await writePart(service, { importId, part: parts + 1, rows });
  }
}

/** @param kept the records that stay, in the place of all earlier ones */
export async function replaceRecord(
  service: ServiceClient,
  { importId, parts }: StoredImport,
  kept: readonly string[],
): Promise<void> {
  const size = Math.ceil(kept.length / parts);
  for (let part = 1; part <= parts; part += 1)
    await writePart(service, { importId, part, rows: kept.slice((part - 1) * size, part * size) });
}

/** A part without rows is forgotten. */
async function writePart(
  service: ServiceClient,
  { importId, part, rows }: { importId: string; part: number; rows: readonly string[] },
): Promise<void> {
  const body = { import_id: importId, part, rows };
  await service.call<'recordImport'>('PUT', '/imports', { body, isRepeatable: true });
}
