// Adds to the API description what a route's name, path and schemas do not already say. A route is added
// here together with serverless.yml; `npm run describe` then writes openapi.json. No function loads this file.
import { CATEGORY_LIMIT } from '../domain/category.ts';
import { MAX_SEARCHED_ROWS } from '../domain/search.ts';
import { MAX_SUMMARY_DAYS } from '../domain/summary.ts';
import { DEFAULT_PER_PAGE, MAX_BULK_ITEMS } from '../domain/transaction.ts';
import { categoryChangesBody, categoryQuery, newCategoryBody } from './category-json.ts';
import type { ObjectSchema } from './fields.ts';
import { healthQuery } from './health-query.ts';
import { importPartBody, importQuery } from './import-json.ts';
import { monthsQuery } from './months-json.ts';
import { searchQuery } from './search-json.ts';
import { seriesQuery, summaryQuery } from './summary-json.ts';
import { exportFileQuery, exportQuery } from './transaction-export.ts';
import {
  newTransactionBody,
  newTransactionsBody,
  transactionChangesBody,
  transactionQuery,
  transactionsChangesBody,
  transactionsRemovalBody,
} from './transaction-json.ts';

export interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  /** Validates the query; without it, every parameter is refused. */
  readonly query?: ObjectSchema;
  /** Parameters that succeed, where some are required. */
  readonly exampleQuery?: Readonly<Record<string, string>>;
  /** Validates the body. */
  readonly body?: ObjectSchema;
  /** A body that succeeds as it is: on an empty ledger, after the examples of the routes before it. */
  readonly example?: object;
  /** Name of the JSON schema of the response (cli/describe/openapi-schemas.ts), and its status where it is not 200. */
  readonly response: string;
  readonly status?: number;
  /** The media type of the response, where it is not JSON. */
  readonly mediaType?: 'text/csv';
  /** Meanings of the failures below, if this operation adds to the usual ones. */
  readonly failures?: Readonly<Record<number, string | false>>;
  /** One record, whose version clients can name: ETag, and If-Match or If-None-Match. */
  readonly isVersioned?: boolean;
  /** No record, but with an ETag of what is shown, for If-None-Match. */
  readonly isTagged?: boolean;
  /** Takes an Idempotency-Key. */
  readonly isIdempotent?: boolean;
  /** Answers without a key or token. */
  readonly isPublic?: boolean;
}

const NO_CATEGORY = 'There is no such transaction, or no category with the `category_id` sent.';
const NO_LIST_OF_EXISTING = `The body is not a list of 1 to ${MAX_BULK_ITEMS} transactions, each of them once.`;
const INVALID_TRANSACTION = 'The body is invalid, or the category is inactive.';

interface Parameter {
  readonly description: string;
  /** For a required parameter, a value that succeeds if a record has this id. */
  readonly example?: string | number;
}

/** A parameter means the same wherever it is. Those that do not are described by their schemas. */
export const PARAMETERS: Readonly<Record<string, Parameter>> = {
  id: { description: 'The id of the record.', example: 1 },
  type: { description: 'Only income, or only expenses.' },
  category_id: { description: 'The id of a category, or `none` for what has no category.' },
  external_id: { description: 'The id that the transaction has in another system.' },
  start_date: { description: 'The first day, included.' },
  end_date: { description: 'The last day, included.' },
  sort: { description: '`date`: oldest first. `-date`: newest first, as without it.' },
  min_amount: { description: 'The smallest amount, included.' },
  max_amount: { description: 'The largest amount, included.' },
  page: { description: 'The number of the page, from 1.' },
  after: { description: 'The `next_cursor` of a page: the page that follows, instead of `page`.' },
  per_page: { description: `Transactions on a page: ${DEFAULT_PER_PAGE}, unless it is sent.` },
  active_only: { description: '`false` also shows inactive categories. `true` is the default.' },
  include_counts: {
    description: '`true` adds the number of transactions. `false` is the default.',
  },
  group_by: { description: 'What is added up.' },
};

export const OPERATIONS_BY_ROUTE: Readonly<Record<string, Operation>> = {
  'GET /transactions': {
    id: 'listTransactions',
    summary: 'List transactions',
    description: `Newest first: by date, then creation, then id. \`total\` and \`pages\` are exact. A page has
      ${DEFAULT_PER_PAGE} transactions, or as many as \`per_page\` says; one past the end is empty.`,
    query: transactionQuery,
    response: 'TransactionPage',
  },
  'POST /transactions': {
    id: 'createTransaction',
    summary: 'Create a transaction',
    description: 'Without `transaction_date` it has the current day.',
    body: newTransactionBody,
    example: { description: 'Lunch', amount: 12.5, type: 'expense' },
    response: 'TransactionWritten',
    status: 201,
    failures: {
      400: INVALID_TRANSACTION,
      404: 'There is no category with the `category_id` sent.',
      409: `Another transaction has the \`external_id\`: \`existing_id\` names it. Or a request with this
        Idempotency-Key is running.`,
    },
    isIdempotent: true,
    isVersioned: true,
  },
  'POST /transactions/bulk': {
    id: 'createTransactions',
    summary: `Create up to ${MAX_BULK_ITEMS} transactions`,
    description:
      'Each is created or refused by itself: `results` has one result for each, in their order.',
    body: newTransactionsBody,
    example: { transactions: [{ description: 'Salary', amount: 2500, type: 'income' }] },
    response: 'TransactionsCreated',
    status: 207,
    failures: { 400: `The body is not a list of 1 to ${MAX_BULK_ITEMS} transactions.`, 409: false },
    isIdempotent: true,
  },
  'PUT /transactions/bulk': {
    id: 'updateTransactions',
    summary: `Update up to ${MAX_BULK_ITEMS} transactions`,
    description: `Each is changed or refused by itself: \`results\` has one result for each, in their order. Each names its
      \`id\`, the fields that change, and optionally as \`if_match\` the \`etag\` of the version that it expects.`,
    body: transactionsChangesBody,
    example: { transactions: [{ id: 1, notes: 'With Robin' }] },
    response: 'TransactionsUpdated',
    status: 207,
    failures: { 400: NO_LIST_OF_EXISTING, 409: false },
    isIdempotent: true,
  },
  'POST /transactions/bulk/delete': {
    id: 'deleteTransactions',
    summary: `Delete up to ${MAX_BULK_ITEMS} transactions`,
    description: `Each is removed or refused by itself: \`results\` has one result for each, in their order. Each names its
      \`id\`, and optionally as \`if_match\` the \`etag\` of the version that it expects.`,
    body: transactionsRemovalBody,
    example: { transactions: [{ id: 2 }] },
    response: 'TransactionsDeleted',
    status: 207,
    failures: { 400: NO_LIST_OF_EXISTING, 409: false },
    isIdempotent: true,
  },
  'GET /transactions/export': {
    id: 'exportTransactions',
    summary: 'Export transactions as CSV',
    description: `One part of a CSV file, oldest first. While there are more, \`Link: <...>; rel="next"\` names the next
      part. Only the first part has the line of column names, so that the parts put together are one file. Text that
      begins like a formula has an apostrophe before it. \`format=json\`, or an \`Accept\` that prefers JSON in the place of \`format\`, answers as
      \`/transactions/export.json\` does.`,
    query: exportFileQuery,
    exampleQuery: { format: 'csv' },
    response: 'TransactionsFile',
    mediaType: 'text/csv',
  },
  'GET /transactions/export.json': {
    id: 'exportTransactionsAsJson',
    summary: 'Export transactions as JSON',
    description: `One part of the transactions as a list has them, oldest first; \`next\` is the query of the next part, null
      in the last one.`,
    query: exportQuery,
    response: 'TransactionsPart',
  },
  'GET /transactions/search': {
    id: 'searchTransactions',
    summary: 'Search transactions',
    description: `Needs \`q\`, \`min_amount\`, \`max_amount\` or \`category_id\`. The page is that of a list; \`summary\` adds up
      everything that was found. The dates, type and categories may leave ${MAX_SEARCHED_ROWS} transactions at most.`,
    query: searchQuery,
    exampleQuery: { q: 'lunch' },
    response: 'TransactionSearch',
  },
  'GET /transactions/{id}': {
    id: 'readTransaction',
    summary: 'Read a transaction',
    description: 'With the name of its category.',
    response: 'TransactionRead',
    isVersioned: true,
  },
  'PUT /transactions/{id}': {
    id: 'updateTransaction',
    summary: 'Update a transaction',
    description:
      'Changes only the fields that are sent; `"category_id": null` takes the category away.',
    body: transactionChangesBody,
    example: { notes: 'With Robin' },
    response: 'TransactionWritten',
    failures: {
      400: INVALID_TRANSACTION,
      404: NO_CATEGORY,
      409: 'Another transaction has the `external_id`.',
    },
    isVersioned: true,
  },
  'DELETE /transactions/{id}': {
    id: 'deleteTransaction',
    summary: 'Delete a transaction',
    description: 'The record is removed.',
    response: 'Deleted',
    isVersioned: true,
  },
  'GET /categories': {
    id: 'listCategories',
    summary: 'List categories',
    description: `By name. A parameter is true when it is \`true\` in any case, and false otherwise. An \`ETag\` that is sent back
      as \`If-None-Match\` is answered with 304.`,
    query: categoryQuery,
    response: 'CategoryList',
    isTagged: true,
  },
  'POST /categories': {
    id: 'createCategory',
    summary: 'Create a category',
    description: 'Its name is unique, among inactive categories too.',
    body: newCategoryBody,
    example: { name: 'Food', color: '#2A9D8F' },
    response: 'CategoryWritten',
    status: 201,
    failures: {
      409: `The name is taken: \`existing_id\` names the category, and the message says where it is inactive. Or the ledger has
        ${CATEGORY_LIMIT} categories.`,
    },
    isIdempotent: true,
    isVersioned: true,
  },
  'GET /categories/{id}': {
    id: 'readCategory',
    summary: 'Read a category',
    description: 'With the number of its transactions.',
    response: 'CategoryRead',
    isVersioned: true,
  },
  'PUT /categories/{id}': {
    id: 'updateCategory',
    summary: 'Update a category',
    description: 'Changes only the fields that are sent.',
    body: categoryChangesBody,
    example: { color: '#264653' },
    response: 'CategoryWritten',
    failures: { 409: 'The name is taken: `existing_id` names the category.' },
    isVersioned: true,
  },
  'DELETE /categories/{id}': {
    id: 'deleteCategory',
    summary: 'Deactivate a category',
    description: 'The category stays, inactive.',
    response: 'Deleted',
    failures: { 409: 'The category has transactions.' },
    isVersioned: true,
  },
  'GET /months': {
    id: 'listMonths',
    summary: 'List months and their digests',
    description: `Months with transactions, oldest first, each of them whole. \`digest\` changes with every creation, change
      and deletion, and is equal for equal sets of transactions; the one beside \`data\` is that of all months shown. It is null
      until every transaction is counted in it. An \`ETag\` that is sent back as \`If-None-Match\` is answered with 304.`,
    query: monthsQuery,
    response: 'Months',
    isTagged: true,
  },
  'GET /summary': {
    id: 'readSummary',
    summary: 'Add up transactions',
    description: `Income, expense, net and number of the transactions, and the same for each group: each category (also
      those without transactions) and what has no category, each type, or each day, month or year from the first to the last that
      has transactions. Days need \`start_date\` and \`end_date\`, ${MAX_SUMMARY_DAYS} days apart at most. Two groupings, such as \`category,month\`, are answered as \`/summary/series\` does.`,
    query: summaryQuery,
    exampleQuery: { group_by: 'category' },
    response: 'Summary',
  },
  'GET /imports': {
    id: 'listImports',
    summary: 'List the rows of imports',
    description: `The identities of the rows that each import has added, in parts, also of rows that were deleted since.
      \`next\` is the query of the next page.`,
    query: importQuery,
    response: 'ImportParts',
  },
  'PUT /imports': {
    id: 'recordImport',
    summary: 'Record the rows of an import',
    description: `Replaces what is recorded of this part of the import. Without rows, the part is forgotten. The identities
      are the client's own.`,
    body: importPartBody,
    example: { import_id: '2026-11-25-bank.csv', rows: ['q1w2e3r4'] },
    response: 'ImportRecorded',
  },
  'GET /summary/series': {
    id: 'readSummarySeries',
    summary: 'Add up transactions by two groupings',
    description: `The same as \`/summary\`, each group by periods: \`days\`, \`months\` or \`years\` names them, from the first to the last
      that has transactions, and each group has arrays of numbers, one for each period.`,
    query: seriesQuery,
    exampleQuery: { group_by: 'category,month' },
    response: 'SummarySeries',
  },
  'GET /me': {
    id: 'identifyCaller',
    summary: 'Say who sends the request',
    description: 'The ledger and the scope of the key or token, and id and name of the key.',
    response: 'Caller',
  },
  'GET /health': {
    id: 'checkHealth',
    summary: 'Check that the service runs',
    description: 'With `deep` it also reads the table.',
    query: healthQuery,
    response: 'Health',
    failures: { 500: 'The database does not answer.' },
    isPublic: true,
  },
  'GET /openapi.json': {
    id: 'describeApi',
    summary: 'Describe the API',
    description: 'This document.',
    response: 'Description',
    isTagged: true,
    isPublic: true,
  },
};
