// API keys of a test's table.
import { createApiKeys } from '../../../../lib/ledger/store/api-keys.ts';
import { createLedgerDatabase } from '../../../../lib/ledger/store/schema.ts';
import { DEFAULT_RETRY_POLICY } from '../../../../lib/shared/retry.ts';
import type { Client } from '../../../shared/support/store-faults.ts';

type Table = { readonly client: Client; readonly tableName: string };

export function createTestKeys({ client, tableName }: Table, clock = () => new Date()) {
  const database = createLedgerDatabase({ client, tableName, retryPolicy: DEFAULT_RETRY_POLICY });
  return createApiKeys({ database, clock });
}
