// The service under test: the running one where the run has one, else the handlers in this process.
import { inject } from 'vitest';
import { createLedgerService } from '../../../lib/ledger/ledger.ts';
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

type ServiceOptions = Partial<Parameters<typeof createLedgerService>[0]>;

/** A service on a table of its own. */
export async function createTestService(options: ServiceOptions = {}) {
  const { client, tableName } = await createTestTable();
  return createLedgerService({ client, tableName, ledgerId: 'test', timeZone: 'UTC', ...options });
}
