// Sends the rows of a statement to a running service, as any client would. A row that is there already is not created
// again, so that an import can be repeated after it was interrupted.
import { setTimeout as sleep } from 'node:timers/promises';
import { LARGEST_BULK } from '../../lib/domain/transaction.ts';
import { DEFAULT_RETRY_POLICY, retry } from '../../lib/retry.ts';
import { SEED_USER_AGENT } from '../edge.ts';
import { StartError } from '../start-error.ts';
import type { StatementRow } from './statement.ts';

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

const ATTEMPTS_OF_A_ROW = 5;
const RETRY_POLICY = {
  ...DEFAULT_RETRY_POLICY,
  firstDelayMs: 200,
  longestDelayMs: 5_000,
  deadlineMs: 60_000,
};

/** @param onProgress called with the number of rows that are done */
export async function upload(
  service: Service,
  rows: readonly StatementRow[],
  onProgress: (done: number) => void,
): Promise<Uploaded> {
  const categories = await ensureCategories(service, rows);
  const total = { created: 0, duplicates: 0 };
  const refused: { line: number; message: string }[] = [];
  for (let first = 0; first < rows.length; first += LARGEST_BULK) {
    let open = rows.slice(first, first + LARGEST_BULK);
    for (let attempt = 1; open.length > 0; attempt += 1) {
      const failed: StatementRow[] = [];
      for (const { index, status, message = '', details = {} } of await send(open)) {
        const row = open[index];
        if (!row) continue;
        if (status === 201) total.created += 1;
        else if (status === 409) total.duplicates += 1;
        else if (status >= 500 && attempt < ATTEMPTS_OF_A_ROW) failed.push(row);
        else
          refused.push({
            line: row.line,
            message: [message, ...Object.entries(details).flat(2)].join(' '),
          });
      }
      open = failed;
    }
    onProgress(Math.min(first + LARGEST_BULK, rows.length));
  }
  return { ...total, refused };

  async function send(some: readonly StatementRow[]): Promise<readonly Result[]> {
    const transactions = some.map(({ line: _, date, category, externalId, ...fields }) => ({
      ...{ ...fields, transaction_date: date, external_id: externalId },
      ...(category === null ? {} : { category_id: categories.get(category) }),
    }));
    const { results } = await call(service, 'POST', '/transactions/bulk', { transactions });
    return results as readonly Result[];
  }
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
    ids.set(name, Number((await call(service, 'POST', '/categories', { name })).id));
  }
  return ids;
}

/** @returns the `data` of the response. @throws StartError */
async function call(
  { url, key }: Service,
  method: string,
  path: string,
  body?: object,
): Promise<Readonly<Record<string, unknown>>> {
  const send = async () => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...{ 'content-type': 'application/json', 'user-agent': SEED_USER_AGENT },
        ...(key && { authorization: `Bearer ${key}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const reply = (await response.json()) as { data?: object; message?: string };
    if (response.status < 400) return (reply.data ?? {}) as Readonly<Record<string, unknown>>;
    const message = `${method} ${url}${path} answered ${response.status}: ${reply.message}`;
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
