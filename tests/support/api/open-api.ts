// The service under test: the running one where the run has one, else the handlers in this process.
import { inject } from 'vitest';
import { createLedger } from '../../../lib/ledger/ledger.ts';
import { createTestTable } from '../test-table.ts';
import { type Api, withVerbs } from './api-client.ts';
import { createHttpClient } from './http-client.ts';
import { openInProcess } from './in-process-client.ts';

export async function openApi(): Promise<Api> {
  const url: string | undefined = inject('apiUrl');
  return url ? withVerbs(createHttpClient(url)) : await openInProcess(await createTestLedger());
}

type LedgerOptions = Partial<Parameters<typeof createLedger>[0]>;

/** A ledger in a table of its own. */
export async function createTestLedger(options: LedgerOptions = {}) {
  const { client, tableName } = await createTestTable();
  return createLedger({ client, tableName, ledgerId: 'test', timeZone: 'UTC', ...options });
}
