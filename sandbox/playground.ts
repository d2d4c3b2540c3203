// A sandbox in which to try `npm run migrate`: the services, and the environment variables that tell another process where
// they are. A run in this sandbox has no graph, because the sandbox's graph is in memory, where no other process can reach it.
import type { HookAction } from '../lib/migration/ports/hooks.ts';
import { testUserOf } from '../lib/migration/runs/run-names.ts';
import { createRunRecords } from '../lib/migration/runs/run-store.ts';
import { createDocumentClient } from '../lib/shared/document-client.ts';
import { ensureTable } from '../local/create-table.ts';
import { startDatabase } from '../local/engine.ts';
import { readLocalAccess } from '../local/local-access.ts';
import type { Resources } from '../processes/resources.ts';
import type { SandboxOptions } from './sandbox-options.ts';
import { startWebhook } from './webhook.ts';
import { startSandboxWorld, startWorldOn, type WorldOptions } from './world.ts';

export interface Playground {
  /** Every variable that `npm run migrate` reads, including those that must not come from the shell. */
  readonly environment: Readonly<Record<string, string>>;
  /** Resolves to a description of how the database ended. */
  readonly ended: Promise<string>;
  /** Performs an action that the webhook requests. A deployment uses the collection that the setting names. */
  perform(action: HookAction): Promise<void>;
}

/** A user who has memories, and can write more. */
export const USER = { id: 'user-0', key: 'key-of-user-0' } as const;

const TABLE = 'migration-sandbox';

// A shell may have real keys set: the sandbox must not use them.
const CLEARED_VARIABLES = {
  QDRANT_API_KEY: '',
  QDRANT_API_KEY_PARAMETER: '',
  MEMORY_BACKEND_KEY_PARAMETER: '',
  MIGRATION_WEBHOOK_URL: '',
  MIGRATION_WEBHOOK_TOKEN: '',
  MIGRATION_WEBHOOK_TOKEN_PARAMETER: '',
  NEO4J_URL: '',
};

interface PlaygroundOptions extends Pick<SandboxOptions, 'memories' | 'run' | 'isByHand'> {
  /** URL of an existing vector store; without one, the sandbox starts its own. */
  readonly qdrantUrl?: string;
  readonly world?: Pick<WorldOptions, 'source' | 'dimensions' | 'isInPlace'>;
}

/**
 * @param onDone called with each action that the webhook performs
 * @throws UserError
 */
export async function openPlayground(
  { memories, run, isByHand, qdrantUrl, world: worldOptions = {} }: PlaygroundOptions,
  resources: Resources,
  onDone: (action: HookAction) => void,
): Promise<Playground> {
  await redirectTemporaryFiles(resources);
  const access = useDummyCredentials();
  const { endpoint, child } = await startDatabase(resources);
  await ensureTable(endpoint, TABLE);
  const client = createDocumentClient(endpoint);
  const clock = () => new Date();
  const records = createRunRecords({ client, tableName: TABLE, clock });
  const users = Math.ceil(memories / 20);
  const options = { runId: run, records, memories, users, ...worldOptions };
  const world = qdrantUrl
    ? await startWorldOn({ url: qdrantUrl }, options)
    : await startSandboxWorld(options);
  resources.onStop(world.close);
  world.backend.grant(USER.key, USER.id);
  const { hooks } = world.operator;
  const webhook = await startWebhook(hooks, onDone);
  resources.onStop(webhook.close);
  return {
    ended: child?.ended ?? new Promise(() => {}),
    environment: {
      ...CLEARED_VARIABLES,
      ...access,
      DYNAMODB_ENDPOINT: endpoint,
      TABLE_NAME: TABLE,
      ...world.environment,
      ...(isByHand ? {} : { MIGRATION_WEBHOOK_URL: webhook.url }),
    },
    async perform(action) {
      const collection = await world.services.setting.read();
      await hooks.ask({
        action,
        runId: run,
        testUser: testUserOf(run),
        collection,
        occasion: 'by-hand',
        deadlineAt: undefined,
      });
    },
  };
}

// Puts all temporary files into one folder, which is removed at the end even if the start fails.
async function redirectTemporaryFiles(resources: Resources): Promise<void> {
  const folder = await resources.createTemporaryFolder('migration-sandbox-');
  process.env.TMPDIR = folder;
}

// This process and `npm run migrate` must use the same credentials.
function useDummyCredentials() {
  const { region, accessKeyId, secretAccessKey } = readLocalAccess({});
  const access = {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  };
  Object.assign(process.env, access);
  return access;
}
