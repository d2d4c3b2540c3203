// The importer, which is loaded when a file comes.
export { planImport } from '../../lib/ledger/import/plan.ts';
export { readStatement, splitTrailer } from '../../lib/ledger/import/statement.ts';
export { toTransactionBody } from '../../lib/ledger/import/transaction-row.ts';
