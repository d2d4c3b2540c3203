// The importer, which is loaded when a file is chosen.
export { changedSince, toChangeBody } from '../../lib/ledger/import/plan.ts';
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
