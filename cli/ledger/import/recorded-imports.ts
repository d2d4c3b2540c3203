// Reads and writes what the ledger records of imports, in parts.
import { MAX_ROWS_OF_PART } from '../../../lib/ledger/domain/import-part.ts';
import { type RecordedImport, recordRow } from '../../../lib/ledger/import/recorded-rows.ts';
import type { TransactionRow } from '../../../lib/ledger/import/transaction-row.ts';
import type { ServiceClient } from '../service-client.ts';

/** Those of one import: its parts are put together. */
export async function readRecordedImports(
  service: ServiceClient,
): Promise<readonly RecordedImport[]> {
  const rows = new Map<string, string[]>();
  for (let next: string | null = ''; next !== null; ) {
    const page = await service.requestJson('GET', `/imports?${next}`);
    for (const part of page.data as readonly { import_id: string; rows: readonly string[] }[]) {
      const known = rows.get(part.import_id) ?? [];
      for (const row of part.rows) known.push(row);
      rows.set(part.import_id, known);
    }
    next = page.next as string | null;
  }
  return [...rows].map(([importId, some]) => ({ importId, rows: some }));
}

/** Written once an import; an import that is interrupted before has no record, and its rows count as never deleted. */
export async function recordImport(
  service: ServiceClient,
  importId: string,
  rows: readonly TransactionRow[],
): Promise<void> {
  const records = rows.flatMap((row) => recordRow(row) ?? []);
  await writeParts(service, { importId, rows: records }, 0);
}

/** @param kept the records that stay, in the place of all earlier ones */
export async function replaceRecord(
  service: ServiceClient,
  { importId, rows }: RecordedImport,
  kept: readonly string[],
): Promise<void> {
  await writeParts(service, { importId, rows: kept }, Math.ceil(rows.length / MAX_ROWS_OF_PART));
}

/** @param earlier number of parts that there are: those without rows are forgotten */
async function writeParts(
  service: ServiceClient,
  { importId, rows }: RecordedImport,
  earlier: number,
): Promise<void> {
  const parts = Math.max(earlier, Math.ceil(rows.length / MAX_ROWS_OF_PART));
  for (let part = 1; part <= parts; part += 1) {
    const some = rows.slice((part - 1) * MAX_ROWS_OF_PART, part * MAX_ROWS_OF_PART);
    const body = { import_id: importId, part, rows: some };
    await service.call('PUT', '/imports', { body, isRepeatable: true });
  }
}
