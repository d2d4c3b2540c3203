// Reads and writes the ledger's records of imports, which are stored in parts.
import type { ImportParts } from '../../../lib/ledger/http/api-types.ts';
import type { RecordedPart } from '../../../lib/ledger/import/recorded-rows.ts';
import type { ServiceClient } from '../service-client.ts';

export async function readRecordedImports(
  service: ServiceClient,
): Promise<readonly RecordedPart[]> {
  const parts: RecordedPart[] = [];
  for (let next: string | null = ''; next !== null; ) {
    const page: ImportParts = await service.requestJson<'listImports'>('GET', `/imports?${next}`);
    for (const { import_id: importId, part, rows } of page.data)
      parts.push({ importId, part, rows });
    next = page.next;
  }
  return parts;
}

/** Writes one part; the service deletes a part that is written without rows. */
export async function writePart(
  service: ServiceClient,
  { importId, part, rows }: RecordedPart,
): Promise<void> {
  const body = { import_id: importId, part, rows };
  await service.call('PUT', '/imports', { body, isRepeatable: true });
}

export async function writeParts(
  service: ServiceClient,
  parts: readonly RecordedPart[],
): Promise<void> {
  for (const part of parts) await writePart(service, part);
}
