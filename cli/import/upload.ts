// Sends new rows and changes to a running service, as any client would. Both can be repeated after an interruption: a row
// that is there already is not created again, and a change that is made is no change.
import { randomUUID } from 'node:crypto';
import { LARGEST_BULK } from '../../lib/domain/transaction.ts';
import type { StartError } from '../../local/processes/start-error.ts';
import type { ServiceClient } from '../service-client.ts';
import type { RefusedLine } from './csv-table.ts';
import { type Change, changedSince } from './plan.ts';
import { type StatementRow, toTransactionBody } from './statement.ts';

export interface Uploaded {
  readonly created: number;
  /** Were there already. */
  readonly duplicates: number;
  readonly refused: readonly RefusedLine[];
}

interface Result {
  readonly index: number;
  readonly status: number;
  readonly message?: string;
  readonly details?: Readonly<Record<string, readonly string[]>>;
}

const MOST_ATTEMPTS = 5;
const FIRST_PAUSE_MS = 200;
const PRECONDITION_FAILED = 412;

/** @param onProgress called with the number of rows that are done */
export async function upload(
  service: ServiceClient,
  rows: readonly StatementRow[],
  onProgress: (done: number) => void,
): Promise<Uploaded> {
  const categories = await ensureCategories(service, rows);
  const total = { created: 0, duplicates: 0 };
  const refused: RefusedLine[] = [];
  for (let first = 0; first < rows.length; first += LARGEST_BULK) {
    const some = rows.slice(first, first + LARGEST_BULK);
    for (const { index, status, message = '', details = {} } of await create(some)) {
      if (status === 201) total.created += 1;
      else if (status === 409) total.duplicates += 1;
      else {
        const sentences = [message, ...Object.entries(details).flat(2)];
        refused.push({ line: some[index]?.line ?? 0, message: sentences.join(' ') });
      }
    }
    onProgress(first + some.length);
  }
  return { ...total, refused };

  async function create(some: readonly StatementRow[]): Promise<readonly Result[]> {
    const transactions = some.map((row) => ({
      ...toTransactionBody(row),
      ...(row.category === null ? {} : { category_id: categories.get(row.category) }),
    }));
    // External ids make a retry safe by themselves; a key costs two more write units for each row.
    const needsKey = some.some(({ externalId }) => externalId === null);
    const headers = needsKey ? { 'idempotency-key': randomUUID() } : {};
    const results = new Map<number, Result>();
    const request = { body: { transactions }, headers, isRepeatable: true };
    for (let attempt = 1; ; attempt += 1) {
      const sent = await service.call('POST', '/transactions/bulk', request);
      for (const result of sent.results as readonly Result[])
        if (results.get(result.index)?.status !== 201) results.set(result.index, result);
      const isDone = results.values().every(({ status }) => status < 500);
      if (isDone || attempt === MOST_ATTEMPTS) return [...results.values()];
      await service.retryPolicy.sleep(FIRST_PAUSE_MS * 2 ** attempt);
    }
  }
}

/**
 * Each only where the transaction is still as it was exported.
 * @param onProgress called with the number of changes that are done
 */
export async function applyChanges(
  service: ServiceClient,
  changes: readonly Change[],
  onProgress: (done: number) => void,
): Promise<{ readonly changed: number; readonly refused: readonly RefusedLine[] }> {
  const categories = await ensureCategories(
    service,
    changes.flatMap(({ row, fields }) => (fields.includes('category') ? row : [])),
  );
  const refused: RefusedLine[] = [];
  for (const [n, change] of changes.entries()) {
    const message = await apply(change);
    if (message !== undefined) refused.push({ line: change.row.line, message });
    onProgress(n + 1);
  }
  return { changed: changes.length - refused.length, refused };

  /** @returns why it was refused */
  async function apply({ row, fields }: Change): Promise<string | undefined> {
    const { id, updatedAt } = row.exported ?? {};
    const path = `/transactions/${id}`;
    const all = toTransactionBody(row);
    const category_id = row.category === null ? null : categories.get(row.category);
    const body = Object.fromEntries(
      fields.map((field) => {
        if (field === 'category') return ['category_id', category_id];
        if (field === 'date') return ['transaction_date', all.transaction_date];
        if (field === 'externalId') return ['external_id', all.external_id];
        return [field, all[field]];
      }),
    );
    try {
      const { text, etag } = await service.request('GET', path);
      if (JSON.parse(text).data.updated_at !== updatedAt) return changedSince(id);
      await service.request('PUT', path, { body, headers: { 'if-match': etag ?? '' } });
      return undefined;
    } catch (error) {
      const { status, message } = error as StartError & { readonly status?: number };
      if (status === PRECONDITION_FAILED) return changedSince(id);
      if (status === undefined || status >= 500) throw error;
      return message;
    }
  }
}

async function ensureCategories(service: ServiceClient, rows: readonly StatementRow[]) {
  return await service.ensureCategories(
    rows.flatMap(({ category: name }) => (name === null ? [] : { name })),
  );
}
