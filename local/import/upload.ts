// Sends the rows of a statement to a running service, as any client would. A row that is there already is not created
// again, so that an import can be repeated after it was interrupted.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LARGEST_BULK } from '../../lib/domain/transaction.ts';
import { DEFAULT_RETRY_POLICY, retry } from '../../lib/retry.ts';
import { SEED_USER_AGENT } from '../edge.ts';
import { StartError } from '../start-error.ts';
import { readStatement, type Statement, type StatementRow } from './statement.ts';

export interface Service {
  readonly url: string;
  readonly key: string | undefined;
}

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
const RETRY_POLICY = {
  ...DEFAULT_RETRY_POLICY,
  firstDelayMs: 200,
  longestDelayMs: 5_000,
  deadlineMs: 60_000,
};

/** @param onProgress called with the number of rows that are done */
export async function upload(
  service: Service,
  statement: Statement,
  onProgress: (done: number) => void,
): Promise<Uploaded> {
  const { rows } = statement;
  const missing = await missingRows(service, statement);
  const categories = await ensureCategories(service, missing);
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
    const transactions = some.map(({ line: _, date, category, externalId, ...fields }) => ({
      ...{ ...fields, transaction_date: date, external_id: externalId },
      ...(category === null ? {} : { category_id: categories.get(category) }),
    }));
    // External ids make a retry safe by themselves; a key costs two more write units for each row.
    const needsKey = some.some(({ externalId }) => externalId === null);
    const headers = needsKey ? { 'idempotency-key': randomUUID() } : {};
    const results = new Map<number, Result>();
    for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
      const body = { transactions };
      const sent = await call(service, 'POST', '/transactions/bulk', { body, headers });
      for (const result of sent.results as readonly Result[])
        if (results.get(result.index)?.status !== 201) results.set(result.index, result);
      if (results.values().every(({ status }) => status < 500)) break;
    }
    return [...results.values()];
  }
}

/** The rows that the ledger does not have: of equal rows without an external id, as many as are missing. */
async function missingRows(service: Service, { isExport, rows }: Statement) {
  const dates = rows.map(({ date }) => date).toSorted();
  const [start_date, end_date] = [dates[0], dates.at(-1)];
  // The rows of a bank have ids by which the service recognizes them.
  if (!isExport || start_date === undefined || end_date === undefined) return rows;
  let file = '';
  let next: string | undefined = `?${new URLSearchParams({ start_date, end_date })}`;
  while (next !== undefined) {
    const { text, link } = await request(service, 'GET', `/transactions/export${next}`);
    file += text;
    next = /^<(.*)>; rel="next"$/.exec(link ?? '')?.[1];
  }
  const present = new Set(identities(readStatement(file).rows));
  const wanted = identities(rows);
  return rows.filter((_, n) => !present.has(wanted[n] ?? ''));
}

/** What makes each row another one: its external id, or its fields and how many equal rows are before it. */
function identities(rows: readonly StatementRow[]): string[] {
  const seen = new Map<string, number>();
  return rows.map(({ line: _, ...row }) => {
    const name = JSON.stringify(row.externalId ?? row);
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return `${name} ${count}`;
  });
}

/** The categories that are there. */
export async function readCategories(service: Service): Promise<Map<string, number>> {
  const known = await call(service, 'GET', '/categories?active_only=false');
  return new Map(
    (known as unknown as { id: number; name: string }[]).map(({ id, name }) => [name, id]),
  );
}

async function ensureCategories(service: Service, rows: readonly StatementRow[]) {
  const ids = await readCategories(service);
  for (const { category: name } of rows) {
    if (name === null || ids.has(name)) continue;
    ids.set(name, Number((await call(service, 'POST', '/categories', { body: { name } })).id));
  }
  return ids;
}

/** @returns the `data` of the response. @throws StartError */
async function call(...parameters: Parameters<typeof request>) {
  const { text } = await request(...parameters);
  return (JSON.parse(text).data ?? {}) as Readonly<Record<string, unknown>>;
}

/** Retries what is transient. @throws StartError */
async function request(
  { url, key }: Service,
  method: string,
  path: string,
  { body, headers }: { body?: object; headers?: Readonly<Record<string, string>> } = {},
): Promise<{ readonly text: string; readonly link: string | null }> {
  const send = async () => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...{ 'content-type': 'application/json', 'user-agent': SEED_USER_AGENT, ...headers },
        ...(key && { authorization: `Bearer ${key}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status < 400) return { text, link: response.headers.get('link') };
    const message = `${method} ${url}${path} answered ${response.status}: ${JSON.parse(text).message}`;
    throw Object.assign(new StartError(message), { status: response.status });
  };
  const isTransient = (error: unknown) => {
    const { status } = error as { status?: number };
    return status === undefined || status === 429 || status >= 500;
  };
  try {
    return await retry({ ...RETRY_POLICY, sleep: (ms) => sleep(ms) }, isTransient, send);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`Nothing answers at ${url}. Start the service with npm start.`, {
      cause: error,
    });
  }
}
