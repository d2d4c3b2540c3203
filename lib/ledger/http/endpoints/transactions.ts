// The endpoints of transactions, as clients see them.
import { MAX_SEARCHED_ROWS } from '../../domain/search.ts';
import { DEFAULT_PER_PAGE, MAX_BULK_ITEMS } from '../../domain/transaction.ts';
import { searchQuery } from '../search-json.ts';
import { CSV_COLUMNS } from '../transaction-csv.ts';
import { exportFileQuery, exportQuery } from '../transaction-export.ts';
import {
  bulkChangeItem,
  bulkChangeList,
  bulkRemovalItem,
  bulkRemovalList,
  newTransactionBody,
  newTransactionList,
  transactionChangesBody,
} from '../transaction-json.ts';
import { transactionQuery } from '../transaction-query.ts';
import { type Endpoint, MAX_KB } from './endpoint-declaration.ts';
import {
  DELETED,
  DIGEST,
  type Field,
  ID,
  INTEGER,
  list,
  nameSchema,
  object,
  STRING,
  SUCCESS,
  schemaRef,
  succeeded,
  TOTALS,
} from './response-schemas.ts';

const TRANSACTION_INPUT = { name: 'TransactionInput', schema: newTransactionBody };
const UNKNOWN_RECORD = 'There is no such transaction, or no category with the `category_id` sent.';
const NOT_A_LIST_OF_EXISTING = `The body is not a list of 1 to ${MAX_BULK_ITEMS} different transactions.`;
const INVALID_TRANSACTION = 'The body is invalid, or the category is inactive.';

const TRANSACTION_WRITTEN = nameSchema(
  'TransactionWritten',
  succeeded({ data: schemaRef('Transaction'), message: STRING }),
);

/** One schema for both outcomes of an item: a union would need a field that names the outcome. */
const ITEM_RESULT = nameSchema(
  'TransactionResult',
  object(
    {
      index: { ...INTEGER, description: 'The position of the transaction in the request.' },
      status: {
        ...INTEGER,
        description: 'The status that a request for this transaction alone would get.',
      },
    },
    {
      id: { ...ID, description: 'The id of the transaction, if `status` is below 400.' },
      etag: { ...STRING, description: 'The version of the transaction, also if `status` is 412.' },
      error: schemaRef('ErrorCode'),
      message: { ...STRING, description: 'The reason, if `status` is 400 or above.' },
      details: schemaRef('FieldErrors'),
      existing_id: { ...ID, description: 'The id of the transaction that has the `external_id`.' },
    },
  ),
);

function createBulkResponse(name: string, data: string, counts: readonly string[]): Field {
  const countFields = Object.fromEntries([...counts, 'failed'].map((each) => [each, INTEGER]));
  return nameSchema(
    name,
    succeeded({ data: nameSchema(data, object({ ...countFields, results: list(ITEM_RESULT) })) }),
  );
}

export const TRANSACTION_ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  'GET /transactions': {
    id: 'listTransactions',
    summary: 'List transactions',
    description: `Newest first: by date, then creation, then id. \`total\` and \`pages\` are exact. A page has \`per_page\`
      transactions, by default ${DEFAULT_PER_PAGE}; a page past the end is empty.`,
    query: transactionQuery,
    response: nameSchema(
      'TransactionPage',
      succeeded({ data: list(schemaRef('Transaction')), pagination: schemaRef('Pagination') }),
    ),
    failureMessage: 'Failed to retrieve transactions',
    maxKb: MAX_KB.page,
  },
  'POST /transactions': {
    id: 'createTransaction',
    summary: 'Create a transaction',
    description: 'Without `transaction_date`, the transaction gets the current day.',
    body: TRANSACTION_INPUT,
    example: { description: 'Lunch', amount: 12.5, type: 'expense' },
    response: TRANSACTION_WRITTEN,
    failureMessage: 'Failed to create transaction',
    maxKb: MAX_KB.row,
    status: 201,
    failureDescriptions: {
      400: INVALID_TRANSACTION,
      404: 'There is no category with the `category_id` sent.',
      409: `Another transaction has the \`external_id\`: \`existing_id\` is its id. Or a request with this
        Idempotency-Key is running.`,
    },
    isIdempotent: true,
    isVersioned: true,
  },
  'POST /transactions/bulk': {
    id: 'createTransactions',
    summary: `Create up to ${MAX_BULK_ITEMS} transactions`,
    description:
      'Each transaction is created or refused separately: `results` has their results, in the same order.',
    body: { name: 'TransactionInputList', schema: newTransactionList, item: TRANSACTION_INPUT },
    example: { transactions: [{ description: 'Salary', amount: 2500, type: 'income' }] },
    response: createBulkResponse('TransactionsCreated', 'CreationResults', [
      'created',
      'duplicates',
    ]),
    failureMessage: 'Failed to create transactions',
    limit: 'bulkRate',
    status: 207,
    failureDescriptions: {
      400: `The body is not a list of 1 to ${MAX_BULK_ITEMS} transactions.`,
      409: false,
    },
    isIdempotent: true,
  },
  'PUT /transactions/bulk': {
    id: 'updateTransactions',
    summary: `Update up to ${MAX_BULK_ITEMS} transactions`,
    description: `Each transaction is changed or refused separately: \`results\` has their results, in the same order. Each
      item has an \`id\`, the fields that change, and optionally, as \`if_match\`, the \`etag\` of the expected version.`,
    body: {
      name: 'TransactionUpdateList',
      schema: bulkChangeList,
      item: { name: 'TransactionUpdateItem', schema: bulkChangeItem },
    },
    example: { transactions: [{ id: 1, notes: 'With Robin' }] },
    response: createBulkResponse('TransactionsUpdated', 'UpdateResults', ['updated']),
    failureMessage: 'Failed to update transactions',
    limit: 'bulkRate',
    status: 207,
    failureDescriptions: { 400: NOT_A_LIST_OF_EXISTING, 409: false },
    isIdempotent: true,
  },
  'POST /transactions/bulk/delete': {
    id: 'deleteTransactions',
    summary: `Delete up to ${MAX_BULK_ITEMS} transactions`,
    description: `Each transaction is deleted or refused separately: \`results\` has their results, in the same order. Each
      item has an \`id\`, and optionally, as \`if_match\`, the \`etag\` of the expected version.`,
    body: {
      name: 'TransactionRemovalList',
      schema: bulkRemovalList,
      item: { name: 'TransactionRemoval', schema: bulkRemovalItem },
    },
    example: { transactions: [{ id: 2 }] },
    response: createBulkResponse('TransactionsDeleted', 'DeletionResults', ['deleted']),
    failureMessage: 'Failed to delete transactions',
    limit: 'bulkRate',
    status: 207,
    failureDescriptions: { 400: NOT_A_LIST_OF_EXISTING, 409: false },
    isIdempotent: true,
  },
  'GET /transactions/export': {
    id: 'exportTransactions',
    summary: 'Export transactions as CSV',
    description: `Returns one part of a CSV file, oldest first. If another part follows, \`Link: <...>; rel="next"\` names
      it. Only the first part has the header line, so that the joined parts are one file. Text that
      begins like a formula is preceded by an apostrophe. With \`format=json\`, or with an \`Accept\` that prefers JSON and no \`format\`,
      the response is that of \`/transactions/export.json\`.`,
    query: exportFileQuery,
    exampleQuery: { format: 'csv' },
    response: nameSchema('TransactionsFile', {
      ...STRING,
      description: `Columns: ${CSV_COLUMNS.join(', ')}.`,
    }),
    failureMessage: 'Failed to export transactions',
    maxKb: MAX_KB.response,
    limit: 'bulkRate',
    mediaType: 'text/csv',
  },
  'GET /transactions/export.json': {
    id: 'exportTransactionsAsJson',
    summary: 'Export transactions as JSON',
    description: `Returns one part of the transactions, oldest first. \`next\` is the query of the next part, and null in the
      last part.`,
    query: exportQuery,
    response: nameSchema(
      'TransactionsPart',
      object(
        {
          ...SUCCESS,
          data: list(schemaRef('Transaction')),
          next: { ...STRING, nullable: true, description: 'The query of the next part.' },
        },
        {
          digest: {
            ...DIGEST,
            description:
              'Digest of all parts of a month; only in the last part of an export of exactly one month.',
          },
        },
      ),
    ),
    failureMessage: 'Failed to export transactions',
    maxKb: MAX_KB.response,
    limit: 'bulkRate',
  },
  'GET /transactions/search': {
    id: 'searchTransactions',
    summary: 'Search transactions',
    description: `Needs \`q\`, \`min_amount\`, \`max_amount\` or \`category_id\`. Returns a page, as \`/transactions\` does; \`summary\`
      adds up all transactions found. At most ${MAX_SEARCHED_ROWS} transactions may match the dates, type and categories.`,
    query: searchQuery,
    exampleQuery: { q: 'lunch' },
    response: nameSchema(
      'TransactionSearch',
      succeeded({
        data: list(schemaRef('Transaction')),
        pagination: schemaRef('Pagination'),
        summary: nameSchema('Totals', object(TOTALS)),
      }),
    ),
    failureMessage: 'Failed to search transactions',
    maxKb: MAX_KB.page,
    limit: 'searchRate',
  },
  'GET /transactions/{id}': {
    id: 'readTransaction',
    summary: 'Read a transaction',
    description: 'Includes the name of its category.',
    response: nameSchema('TransactionRead', succeeded({ data: schemaRef('Transaction') })),
    failureMessage: 'Failed to retrieve transaction',
    maxKb: MAX_KB.row,
    isVersioned: true,
  },
  'PUT /transactions/{id}': {
    id: 'updateTransaction',
    summary: 'Update a transaction',
    description:
      'Changes only the fields that are sent; `"category_id": null` removes the category.',
    body: { name: 'TransactionUpdate', schema: transactionChangesBody },
    example: { notes: 'With Robin' },
    response: TRANSACTION_WRITTEN,
    failureMessage: 'Failed to update transaction',
    maxKb: MAX_KB.row,
    failureDescriptions: {
      400: INVALID_TRANSACTION,
      404: UNKNOWN_RECORD,
      409: 'Another transaction has the `external_id`.',
    },
    isVersioned: true,
  },
  'DELETE /transactions/{id}': {
    id: 'deleteTransaction',
    summary: 'Delete a transaction',
    description: 'The record is deleted.',
    response: DELETED,
    failureMessage: 'Failed to delete transaction',
    isVersioned: true,
  },
};
