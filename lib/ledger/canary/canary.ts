// Uses the deployed service as a client does: creates, reads, lists and deletes a transaction through the public address, in its
// own ledger. If a run crashes, the next one deletes its transaction.
import * as v from 'valibot';

export interface CanaryOptions {
  /** URL of the API, without a trailing slash. */
  readonly url: string;
  readonly key: string;
  readonly fetch: typeof globalThis.fetch;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  readonly now: () => Date;
}

export class CanaryFailed extends Error {
  override readonly name = 'CanaryFailed';
}

// Lists lag behind writes, seldom by more than a second.
const MAX_LIST_ATTEMPTS = 20;
const LIST_INTERVAL_MS = 500;
/** Shorter than the function's timeout, so that a request that hangs is reported with the name of its step. */
const CALL_TIMEOUT_MS = 10_000;

const createdSchema = v.object({ data: v.object({ id: v.number() }) });
const listSchema = v.object({ data: v.array(v.object({ id: v.number() })) });

/** @throws CanaryFailed that names the step */
export async function runCanary(options: CanaryOptions): Promise<void> {
  const { url, key, fetch, sleep, now } = options;
  const today = now().toISOString().slice(0, 10);

  for (const { id } of await list()) await remove(id);
  const transaction = {
    description: 'Canary',
    amount: 1,
    type: 'expense',
    transaction_date: today,
  };
  const created = await call('create', 'POST', '/transactions', [201], transaction);
  const { id } = read('create', createdSchema, created).data;
  await call('read', 'GET', `/transactions/${id}`, [200]);
  await awaitList(id);
  await remove(id);
  await call('check the deletion', 'GET', `/transactions/${id}`, [404]);

  async function list() {
    return read('list', listSchema, await call('list', 'GET', '/transactions?per_page=100', [200]))
      .data;
  }

  async function awaitList(id: number): Promise<void> {
    for (let attempt = 1; attempt <= MAX_LIST_ATTEMPTS; attempt += 1) {
      if ((await list()).some((row) => row.id === id)) return;
      await sleep(LIST_INTERVAL_MS);
    }
    throw new CanaryFailed(`The list does not show transaction ${id}, which was created.`);
  }

  // The list may still show a transaction that an earlier run deleted.
  async function remove(id: number): Promise<void> {
    await call('delete', 'DELETE', `/transactions/${id}`, [200, 404]);
  }

  async function call(
    step: string,
    method: string,
    path: string,
    expected: readonly number[],
    body?: object,
  ): Promise<unknown> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const signal = AbortSignal.timeout(CALL_TIMEOUT_MS);
    const request = { method, headers, signal, ...(body && { body: JSON.stringify(body) }) };
    const throwNoResponse = (cause: unknown) => {
      throw new CanaryFailed(`Cannot ${step}: nothing answers at ${url}.`, { cause });
    };
    const response = await fetch(`${url}${path}`, request).catch(throwNoResponse);
    const text = await response.text().catch(throwNoResponse);
    if (expected.includes(response.status)) return JSON.parse(text);
    const requestId = response.headers.get('x-request-id') ?? 'none';
    throw new CanaryFailed(
      `Cannot ${step}: ${method} ${path} answered ${response.status}, request id ${requestId}.`,
    );
  }
}

function read<Schema extends v.GenericSchema>(step: string, schema: Schema, body: unknown) {
  const parsed = v.safeParse(schema, body);
  if (parsed.success) return parsed.output;
  throw new CanaryFailed(`Cannot ${step}: the response has an unexpected shape.`);
}
