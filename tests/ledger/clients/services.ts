// The services that generated clients call: an open service for the examples of the guide, and a service that requires keys
// for the scenarios, each of which gets its own ledger.
import { createDocumentClient } from '../../../lib/shared/document-client.ts';
import type { Resources } from '../../../processes/resources.ts';
import { createTestKeys } from '../support/auth/test-keys.ts';
import { startService, startSharedDatabase } from '../support/running-service.ts';

const TABLE_NAME = 'clients';

/** Environment variables that a client reads */
type Settings = Readonly<Record<string, string>>;

export interface Services {
  readonly open: Settings;
  readonly withKeys: (ledger: string) => Promise<Settings>;
}

export async function startServices(resources: Resources): Promise<Services> {
  const database = await startSharedDatabase(resources, TABLE_NAME);
  const start = async (AUTH: string) => {
    const { ready } = await startService(resources, { environment: { ...database, AUTH } });
    return await ready;
  };
  const open = { LEDGER_URL: await start('open') };
  const LEDGER_URL = await start('required');
  const keys = createTestKeys({
    client: createDocumentClient(database.DYNAMODB_ENDPOINT),
    tableName: TABLE_NAME,
  });

  async function withKeys(ledger: string): Promise<Settings> {
    const createKey = async (scope: 'read' | 'write') =>
      (await keys.create({ name: scope, ledger, scope })).secret;
    return { LEDGER_URL, LEDGER_KEY: await createKey('write'), READ_KEY: await createKey('read') };
  }

  return { open, withKeys };
}
