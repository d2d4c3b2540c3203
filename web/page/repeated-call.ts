// Retries a request until the service answers, for work that must be finished, such as an import. A retry applies nothing twice.
import { signal } from '@preact/signals';
import type {
  TransactionResult,
  TransactionsCreated,
  TransactionsDeleted,
  TransactionsUpdated,
} from '../../lib/ledger/http/api-types.ts';
import { ApiError, pauseAfter } from './api-error.ts';
import { call } from './client.ts';
import { withKey } from './key-question.ts';

/** True if the service did not answer the last attempt. */
export const isWaiting = signal(false);

type BulkResponse = TransactionsCreated | TransactionsUpdated | TransactionsDeleted;

/**
 * Uses one Idempotency-Key for all attempts: a retry completes the interrupted items, and returns the same results for the others.
 */
export async function sendBulk(
  method: 'POST' | 'PUT',
  path: string,
  transactions: readonly object[],
): Promise<readonly TransactionResult[]> {
  const headers = { 'idempotency-key': crypto.randomUUID() };
  return await untilAnswered(async () => {
    const request = { method, body: { transactions }, headers } as const;
    const { data } = await call<BulkResponse>(path, request);
    if (data.results.some(({ status }) => status >= 500))
      throw new ApiError('The service did not finish.');
    return data.results;
  });
}

export async function untilAnswered<Result>(send: () => Promise<Result>): Promise<Result> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const result = await withKey(send);
      isWaiting.value = false;
      return result;
    } catch (error) {
      if (!(error instanceof ApiError && error.isRetryable)) throw error;
      isWaiting.value = true;
      await waitForConnection(pauseAfter(attempt));
    }
  }
}

/** Waits until the device is online again, but no longer than `maxWaitMs`. */
async function waitForConnection(maxWaitMs: number): Promise<void> {
  const waitEnd = new AbortController();
  await new Promise((resolve) => {
    setTimeout(resolve, maxWaitMs);
    addEventListener('online', resolve, { signal: waitEnd.signal });
  });
  waitEnd.abort();
}

export function describeRefusal({ message = '', details = {} }: TransactionResult): string {
  return [message, ...Object.entries(details).flat(2)].join(' ');
}
