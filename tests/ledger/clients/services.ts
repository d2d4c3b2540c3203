// The services that generated clients speak to: an open one for the first requests of the guide, and one that takes keys for the
// scenarios, each of which gets a ledger of its own.
import { createDocumentClient } from '../../../lib/shared/document-client.ts';
import { startDatabase } from '../../../local/engine.ts';
import { localAccess } from '../../../local/local-access.ts';
import type { Running } from '../../../processes/running.ts';
import { createTestKeys } from '../support/auth/test-keys.ts';
import { startService } from '../support/running-service.ts';

const TABLE_NAME = 'clients';

/** Variables that a client reads. */
type Settings = Readonly<Record<string, string>>;

export interface Services {
  readonly open: Settings;
  readonly withKeys: (ledger: string) => Promise<Settings>;
}

export async function startServices(running: Running): Promise<Services> {
  // The database keeps separate tables for every access key and region.
  const { region, accessKeyId, secretAccessKey } = localAccess({});
  Object.assign(process.env, {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  });
  const { endpoint } = await startDatabase(running);
  const shared = { TABLE_NAME, DYNAMODB_ENDPOINT: endpoint };
  const start = async (AUTH: string) => {
    const { ready } = await startService(running, { environment: { ...shared, AUTH } });
    return await ready;
  };
  const open = { LEDGER_URL: await start('open') };
  const LEDGER_URL = await start('required');
  const keys = createTestKeys({ client: createDocumentClient(endpoint), tableName: TABLE_NAME });

  async function withKeys(ledger: string): Promise<Settings> {
    const make = async (scope: 'read' | 'write') =>
      (await keys.create({ name: scope, ledger, scope })).secret;
    return { LEDGER_URL, LEDGER_KEY: await make('write'), READ_KEY: await make('read') };
  }

  return { open, withKeys };
}
