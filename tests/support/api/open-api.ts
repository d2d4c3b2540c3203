// The service under test: the running one where the run has one, else the handlers in this process.
import { inject } from 'vitest';
import { createLedgerService } from '../../../lib/ledger/ledger.ts';
import { DEFAULT_RETRY_POLICY } from '../../../lib/retry.ts';
import { LONG_TIMEOUTS } from '../../../local/open-ledger.ts';
import { createTestTable } from '../test-table.ts';
import { type Api, withVerbs } from './api-client.ts';
import { createHttpClient } from './http-client.ts';
import { openInProcess } from './in-process-client.ts';

export async function openApi(): Promise<Api> {
  const url: string | undefined = inject('apiUrl');
  const key: string | undefined = inject('apiKey');
  const headers = key ? { authorization: `Bearer ${key}` } : {};
  return url
    ? withVerbs(createHttpClient(url, headers))
    : await openInProcess(await createTestService());
}

/** Time limits of a service that no busy machine reaches. */
export const PATIENT = {
  retryPolicy: { ...DEFAULT_RETRY_POLICY, deadlineMs: 300_000 },
  timeouts: LONG_TIMEOUTS,
};

type ServiceOptions = Partial<Parameters<typeof createLedgerService>[0]>;

/** A service on a table of its own. */
export async function createTestService(options: ServiceOptions = {}) {
  const { client, tableName } = await createTestTable();
  const settings = { client, tableName, ledgerId: 'test', timeZone: 'UTC' };
  return createLedgerService({ ...PATIENT, ...settings, ...options });
}
