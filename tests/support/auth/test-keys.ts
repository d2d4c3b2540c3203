// API keys of a test's table.
import { createApiKeys } from '../../../lib/auth/api-keys.ts';
import { DEFAULT_RETRY_POLICY } from '../../../lib/retry.ts';
import { createDatabase } from '../../../lib/store/database.ts';
import type { Client } from '../store-faults.ts';

type Table = { readonly client: Client; readonly tableName: string };

export function createTestKeys({ client, tableName }: Table, clock = () => new Date()) {
  const database = createDatabase({ client, tableName, retryPolicy: DEFAULT_RETRY_POLICY });
  return createApiKeys({ database, clock });
}
