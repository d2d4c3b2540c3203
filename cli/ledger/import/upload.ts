// Sends new rows, changes and deletions to a running service, a hundred at a time, as any client would. Each command can be
// repeated after an interruption: an existing row is not created again, and a change is not applied twice.
import { randomUUID } from 'node:crypto';
import { MAX_BULK_ITEMS } from '../../../lib/ledger/domain/transaction.ts';
import type { TransactionResult } from '../../../lib/ledger/http/api-types.ts';
import type { RefusedLine } from '../../../lib/ledger/import/entry.ts';
import {
  type Change,
  describeChangedRecord,
  toChangeBody,
} from '../../../lib/ledger/import/plan.ts';
import type { Recorder } from '../../../lib/ledger/import/recorded-rows.ts';
import {
  type LedgerRow,
  type StatementRow,
  toTransactionBody,
} from '../../../lib/ledger/import/transaction-row.ts';
import { UserError } from '../../../lib/shared/user-error.ts';
import type { ServiceClient } from '../service-client.ts';

export interface UploadResult {
  readonly created: number;
  /** Number of rows that the ledger already had. */
  readonly duplicates: number;
  readonly refused: readonly RefusedLine[];
}

type BulkOperation = 'createTransactions' | 'updateTransactions' | 'deleteTransactions';

/** Receives the number of completed items. */
type OnProgress = (done: number) => void;

const MAX_ATTEMPTS = 5;
const FIRST_PAUSE_MS = 400;
const CREATED = 201;
const NOT_FOUND = 404;
const CONFLICT = 409;
const PRECONDITION_FAILED = 412;

/**
 * Sends new rows.
 * @param importId stored with each created transaction
 * @param recorder receives the rows of each request before it is sent, and then the rows that were created
 */
export async function upload(
  service: ServiceClient,
  {
    rows,
    importId,
    recorder,
  }: {
    readonly rows: readonly StatementRow[];
    readonly importId: string;
    readonly recorder: Recorder;
  },
  onProgress: OnProgress,
): Promise<UploadResult> {
  const categories = await ensureCategories(service, rows);
  const toBody = (row: StatementRow) => ({
    ...toTransactionBody(row),
    import_id: importId,
    ...(row.category === null ? {} : { category_id: categories.get(row.category) }),
  });
  const isCreated = ({ result }: ItemResult<StatementRow>) => result.status < 300;
  const request = {
    ...({ method: 'POST', path: '/transactions/bulk', items: rows, toBody } as const),
    announce: recorder.announce,
    onSent: async (sentResults: readonly ItemResult<StatementRow>[]) => {
      const claimedResults = await claimCreated(service, importId, sentResults);
      await recorder.confirm(claimedResults.filter(isCreated).map(({ item }) => item));
      return claimedResults;
    },
  };
  const results = await sendAll(service, request, onProgress);
  await recorder.close();
  const isDuplicate = ({ status }: TransactionResult) => status === CONFLICT;
  const duplicates = results.filter(({ result }) => isDuplicate(result));
  return {
    created: results.filter(isCreated).length,
    duplicates: duplicates.length,
    refused: listRefused(results.filter(({ result }) => !isDuplicate(result))),
  };
}

/**
 * Counts a conflicting row as created if it has the id of this import: a request whose response was lost may have created it,
 * so that the retry conflicts. All other conflicting rows were created by another import since the ledger was read.
 */
async function claimCreated(
  service: ServiceClient,
  importId: string,
  results: readonly ItemResult<StatementRow>[],
): Promise<readonly ItemResult<StatementRow>[]> {
  const claimedResults: ItemResult<StatementRow>[] = [];
  for (const { item, result } of results) {
    const isFromThisImport =
      result.status === CONFLICT &&
      item.externalId !== null &&
      (await findImportId(service, item.externalId)) === importId;
    claimedResults.push({
      item,
      result: isFromThisImport ? { ...result, status: CREATED } : result,
    });
  }
  return claimedResults;
}

async function findImportId(
  service: ServiceClient,
  externalId: string,
): Promise<string | null | undefined> {
  const query = new URLSearchParams({ external_id: externalId });
  const [transaction] = await service.call<'listTransactions'>('GET', `/transactions?${query}`);
  return transaction?.import_id;
}

/** Applies each change only if the transaction has not changed since it was exported. */
export async function applyChanges(
  service: ServiceClient,
  changes: readonly Change[],
  onProgress: OnProgress,
): Promise<{ readonly changed: number; readonly refused: readonly RefusedLine[] }> {
  const recategorisedChanges = changes.filter(({ fields }) => fields.includes('category'));
  const categories = await ensureCategories(
    service,
    recategorisedChanges.map(({ row }) => row),
  );
  const toBody = (change: Change) =>
    toChangeBody(change, categories.get(change.row.category ?? '') ?? null);
  const request = { method: 'PUT', path: '/transactions/bulk', items: changes, toBody } as const;
  const results = await sendAll(service, request, onProgress);
  const refused = listRefused(
    results.map(({ item: { row, transaction }, result }) => ({
      item: row,
      result:
        result.status === PRECONDITION_FAILED
          ? { ...result, message: describeChangedRecord(transaction.id) }
          : result,
    })),
  );
  return { changed: changes.length - refused.length, refused };
}

/**
 * Deletes each transaction that has not changed since it was read.
 * @returns the transactions that have changed since
 * @throws UserError if the service refuses a deletion for another reason
 */
export async function deleteRows(
  service: ServiceClient,
  rows: readonly LedgerRow[],
  onProgress: OnProgress,
): Promise<readonly LedgerRow[]> {
  const toBody = ({ id, etag }: LedgerRow) => ({ id: Number(id), if_match: etag });
  const path = '/transactions/bulk/delete';
  const request = { method: 'POST', path, items: rows, toBody } as const;
  const results = await sendAll(service, request, onProgress);
  // A missing row was deleted by another client.
  const undeletedRows = results.filter(
    ({ result: { status } }) => status >= 300 && status !== NOT_FOUND,
  );
  const failedDeletion = undeletedRows.find(({ result }) => result.status !== PRECONDITION_FAILED);
  if (failedDeletion)
    throw new UserError(
      `Not every row was deleted: ${failedDeletion.result.message}. Repeat the command.`,
    );
  return undeletedRows.map(({ item }) => item);
}

interface BulkRequest<Item> {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly items: readonly Item[];
  readonly toBody: (item: Item) => object;
  /** Completes before these items are sent; called while the previous request is still running. */
  readonly announce?: (items: readonly Item[]) => Promise<void>;
  /** Processes the results of a request. @returns the corrected results */
  readonly onSent?: (results: readonly ItemResult<Item>[]) => Promise<readonly ItemResult<Item>[]>;
}

interface ItemResult<Item> {
  readonly item: Item;
  readonly result: TransactionResult;
}

async function sendAll<Item>(
  service: ServiceClient,
  { method, path, items, toBody, announce, onSent }: BulkRequest<Item>,
  onProgress: OnProgress,
): Promise<readonly ItemResult<Item>[]> {
  const allResults: ItemResult<Item>[] = [];
  const takeBatch = (start: number) => items.slice(start, start + MAX_BULK_ITEMS);
  const announceBatch = async (start: number) => {
    if (start < items.length) await announce?.(takeBatch(start));
  };
  await announceBatch(0);
  for (let start = 0; start < items.length; start += MAX_BULK_ITEMS) {
    const batch = takeBatch(start);
    const sending = sendBatch(batch.map(toBody));
    const announcing = announceBatch(start + MAX_BULK_ITEMS);
    // Waits for both before a failure is reported, so that no request is cut off.
    await Promise.allSettled([sending, announcing]);
    await announcing;
    const batchResults = (await sending).flatMap((result) => {
      const item = batch[result.index];
      return item === undefined ? [] : { item, result };
    });
    allResults.push(...((await onSent?.(batchResults)) ?? batchResults));
    onProgress(start + batch.length);
  }
  return allResults;

  /** Sends one request, and repeats it while items fail temporarily. Completed items are not applied twice. */
  async function sendBatch(transactions: readonly object[]): Promise<readonly TransactionResult[]> {
    // Without a key, a retry would create rows without an external id twice, and refuse changes that were made.
    const needsKey = method === 'PUT' || transactions.some(hasNoExternalId);
    const headers = needsKey ? { 'idempotency-key': randomUUID() } : {};
    const results = new Map<number, TransactionResult>();
    const request = { body: { transactions }, headers, isRepeatable: true };
    for (let attempt = 1; ; attempt += 1) {
      const { results: sentResults } = await service.call<BulkOperation>(method, path, request);
      for (const result of sentResults)
        if ((results.get(result.index)?.status ?? 500) >= 300) results.set(result.index, result);
      const hasFinished = results.values().every(({ status }) => status < 500);
      if (hasFinished || attempt === MAX_ATTEMPTS) return [...results.values()];
      await service.retryPolicy.sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1));
    }
  }
}

/** A create with an external id is safe to retry without an idempotency key, which would cost two more write units a row. */
function hasNoExternalId(transaction: object): boolean {
  return (transaction as { external_id?: string | null }).external_id == null;
}

function listRefused(results: readonly ItemResult<StatementRow>[]): readonly RefusedLine[] {
  return results.flatMap(({ item, result: { status, message = '', details = {} } }) => {
    if (status < 300) return [];
    return { line: item.line, message: [message, ...Object.entries(details).flat(2)].join(' ') };
  });
}

async function ensureCategories(service: ServiceClient, rows: readonly StatementRow[]) {
  return await service.ensureCategories(
    rows.flatMap(({ category: name }) => (name === null ? [] : { name })),
  );
}
