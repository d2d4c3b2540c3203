// Reads the transactions of a ledger from its export.
import type { Transaction, TransactionsPart } from '../../../lib/ledger/http/api-types.ts';
import type { LedgerRow } from '../../../lib/ledger/import/transaction-row.ts';
import type { ServiceClient } from '../service-client.ts';

/**
 * Reads transactions of all dates, not only of the dates in the file: a transaction that was moved to another date still
 * belongs to its row.
 * @param importId limits the result to the transactions that this import created
 */
export async function readLedger(
  service: ServiceClient,
  importId?: string,
): Promise<readonly LedgerRow[]> {
  const rows: LedgerRow[] = [];
  const filter = { format: 'json', ...(importId === undefined ? {} : { import_id: importId }) };
  let next: string | null = String(new URLSearchParams(filter));
  while (next !== null) {
    const part: TransactionsPart = await service.requestJson<'exportTransactionsAsJson'>(
      'GET',
      `/transactions/export?${next}`,
    );
    rows.push(...part.data.map(toRow));
    next = part.next;
  }
  return rows;
}

function toRow(transaction: Transaction): LedgerRow {
  const { description, amount, type, notes, etag } = transaction;
  return {
    description,
    amount,
    type,
    notes,
    etag,
    date: transaction.transaction_date,
    category: transaction.category_name ?? null,
    externalId: transaction.external_id ?? null,
    importId: transaction.import_id ?? null,
    id: String(transaction.id),
    createdAt: transaction.created_at,
    updatedAt: transaction.updated_at,
  };
}
