// Opens the service under test: the running service if the test run provides its address, otherwise the handlers in this process.
import { afterAll, inject } from 'vitest';
import {
  createLedgerService,
  type LedgerService,
  type LedgerServiceOptions,
} from '../../../../lib/ledger/ledger.ts';
import { LONG_TIMEOUTS } from '../../../../lib/shared/database.ts';
import { DEFAULT_RETRY_POLICY } from '../../../../lib/shared/retry.ts';
import { createTestTable } from '../../../shared/support/test-table.ts';
import { type Api, withVerbs } from './api-client.ts';
import { createHttpClient } from './http-client.ts';
import { openInProcess } from './in-process-client.ts';

/** Opens the API, and closes it after the tests of the file. */
export async function openTestApi(): Promise<Api> {
  const url: string | undefined = inject('apiUrl');
  const key: string | undefined = inject('apiKey');
  const headers = key ? { authorization: `Bearer ${key}` } : {};
  const api = url
    ? withVerbs(createHttpClient(url, headers))
    : await openInProcess(await createTestService());
  afterAll(() => api.close());
  return api;
}

type ServiceOptions = Pick<LedgerServiceOptions, 'client' | 'tableName'> &
  Partial<LedgerServiceOptions>;

/** Creates a service on the given table. Its time limits never expire; tests of time limits pass their own `timeoutSignal`. */
export function createServiceOn(options: ServiceOptions): LedgerService {
  return createLedgerService({
    ledgerId: 'test',
    timeZone: 'UTC',
    timeouts: LONG_TIMEOUTS,
    timeoutSignal: () => new AbortController().signal,
    retryPolicy: { ...DEFAULT_RETRY_POLICY, deadlineMs: 300_000 },
    ...options,
  });
}

/** Creates a service on its own table. */
export async function createTestService(
  options: Partial<LedgerServiceOptions> = {},
): Promise<LedgerService> {
  return createServiceOn({ ...(await createTestTable()), ...options });
}
