// Sends the rows of a statement to a running service, as any client would. A row that is there already is not created
// again, so that an import can be repeated after it was interrupted.
import { randomUUID } from 'node:crypto';
import { LARGEST_BULK } from '../../lib/domain/transaction.ts';
import { StartError } from '../../local/processes/start-error.ts';
import type { ServiceClient } from '../service-client.ts';
import {
  readStatement,
  type Statement,
  type StatementRow,
  toTransactionBody,
} from './statement.ts';

export interface Uploaded {
  readonly created: number;
  /** Were there already. */
  readonly duplicates: number;
  readonly refused: readonly { readonly line: number; readonly message: string }[];
}

interface Result {
  readonly index: number;
  readonly status: number;
  readonly message?: string;
  readonly details?: Readonly<Record<string, readonly string[]>>;
}

const MOST_ATTEMPTS = 5;
const FIRST_PAUSE_MS = 200;

/** @param onProgress called with the number of rows that are done */
export async function upload(
  service: ServiceClient,
  statement: Statement,
  onProgress: (done: number) => void,
): Promise<Uploaded> {
  const { rows, isExport } = statement;
  // The rows of a bank have ids by which the service recognizes them.
  const missing = isExport ? await missingRows(service, rows) : rows;
  const categories = await service.ensureCategories(
    missing.flatMap(({ category: name }) => (name === null ? [] : { name })),
  );
  const total = { created: 0, duplicates: rows.length - missing.length };
  const refused: { line: number; message: string }[] = [];
  for (let first = 0; first < missing.length; first += LARGEST_BULK) {
    const some = missing.slice(first, first + LARGEST_BULK);
    for (const { index, status, message = '', details = {} } of await create(some)) {
      if (status === 201) total.created += 1;
      else if (status === 409) total.duplicates += 1;
      else {
        const sentences = [message, ...Object.entries(details).flat(2)];
        refused.push({ line: some[index]?.line ?? 0, message: sentences.join(' ') });
      }
    }
    onProgress(rows.length - missing.length + first + some.length);
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

/** The rows that the ledger does not have: of equal rows without an external id, as many as are missing. */
export async function missingRows(service: ServiceClient, rows: readonly StatementRow[]) {
  const dates = rows.map(({ date }) => date).toSorted();
  const [start_date, end_date] = [dates[0], dates.at(-1)];
  if (start_date === undefined || end_date === undefined) return rows;
  let file = '';
  let next: string | undefined = `?${new URLSearchParams({ start_date, end_date })}`;
  while (next !== undefined) {
    const { text, link } = await service.request('GET', `/transactions/export${next}`);
    file += text;
    next = /^<(.*)>; rel="next"$/.exec(link ?? '')?.[1];
  }
  const { rows: exported, errors } = readStatement(file);
  const [error] = errors;
  // A row that is overlooked here would be created a second time.
  if (error)
    throw new StartError(`Line ${error.line} of the export cannot be read: ${error.message}`);
  const present = new Set(identities(exported));
  const wanted = identities(rows);
  return rows.filter((_, n) => !present.has(wanted[n] ?? ''));
}

/** What makes each row another one: its external id, or its fields and how many equal rows are before it. */
function identities(rows: readonly StatementRow[]): string[] {
  const seen = new Map<string, number>();
  return rows.map(({ line: _, ...row }) => {
    if (row.externalId !== null) return JSON.stringify(row.externalId);
    const name = JSON.stringify(row);
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return `${name} ${count}`;
  });
}
