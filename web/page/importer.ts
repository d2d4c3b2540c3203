// The importer as a separate script, which the page loads only when it needs it: for a chosen file, or to undo an import.
export { describeChangedRecord, toChangeBody } from '../../lib/ledger/import/plan.ts';
export { planWithCategories } from '../../lib/ledger/import/plan-with-categories.ts';
export {
  announceRemoval,
  createRecordedRows,
  createRecorder,
  keepRecords,
  resolvePendingRecords,
} from '../../lib/ledger/import/recorded-rows.ts';
export { readStatement } from '../../lib/ledger/import/statement.ts';
export { toTransactionBody } from '../../lib/ledger/import/transaction-row.ts';
