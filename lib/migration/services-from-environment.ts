// Opens the services that the environment names, at the first invocation rather than at import: secrets must be fetched.
import { fileURLToPath } from 'node:url';
import { SSMClient } from '@aws-sdk/client-ssm';
import { createDocumentClient } from '../shared/document-client.ts';
import { logEntry } from '../shared/log.ts';
import { createFileCollectionSetting } from './adapters/file-collection-setting.ts';
import { createHttpMemoryBackend, type MemoryBackend } from './adapters/http-memory-backend.ts';
import { openArtifacts } from './adapters/open-artifacts.ts';
import type { QdrantConnection } from './adapters/qdrant/transport.ts';
import { createQdrant } from './adapters/qdrant.ts';
import { createSecrets, type Secrets } from './adapters/secrets.ts';
import { createSsmCollectionSetting } from './adapters/ssm-collection-setting.ts';
import { createWebhook, manualHooks } from './adapters/webhook.ts';
import type { CollectionSetting } from './ports/collection-setting.ts';
import { namedClient } from './runs/failures.ts';
import { createLeaseHolder } from './runs/lease-holder.ts';
import { createRunRecords, type RunRecords } from './runs/run-store.ts';
import type { Services } from './services.ts';
import {
  type BackendSettings,
  type Environment,
  type RecordSettings,
  readBackendSettings,
  readRecordSettings,
  readStepSettings,
  type StepSettings,
} from './settings.ts';

/** Writing a memory takes long, because a language model extracts it. */
export const BACKEND_TIMEOUT_MS = 60_000;
const SNAPSHOT_PART_BYTES = 64 * 1024 * 1024;

/** Opens the records of runs, for functions that only read or confirm. @throws Refusal for invalid settings */
export function openRecords(environment: Environment): RunRecords {
  return createRecords(readRecordSettings(environment), environment);
}

/**
 * @param pace how requests to the vector store are retried; by default as on AWS Lambda
 * @throws Refusal naming every variable that is missing or unusable; errors of Systems Manager
 */
export async function openServices(
  environment: Environment,
  { pace, log = logEntry }: Pick<QdrantConnection, 'pace'> & Partial<Pick<Services, 'log'>> = {},
): Promise<Services> {
  const settings = readStepSettings(environment);
  const secrets = openSecrets(environment);
  const { MIGRATION_WEBHOOK_URL: webhook, NEO4J_URL: graphUrl } = settings;
  return {
    ...createRecords(settings, environment),
    vectors: createQdrant({
      url: settings.QDRANT_URL,
      apiKey: (await secrets.find('QDRANT_API_KEY'))?.reveal(),
      ...(pace && { pace }),
    }),
    artifacts: openArtifacts(settings.ARTIFACTS_URL, {
      bucketOwner: settings.ARTIFACTS_BUCKET_OWNER,
    }),
    setting: openSetting(new URL(settings.COLLECTION_SETTING)),
    ...(await openBackends(settings, secrets)),
    hooks: webhook
      ? createWebhook({
          url: webhook,
          token: await secrets.find('MIGRATION_WEBHOOK_TOKEN'),
          timeoutMs: BACKEND_TIMEOUT_MS,
        })
      : manualHooks,
    graph: graphUrl ? await openGraph(graphUrl, settings, secrets) : undefined,
    snapshotPartBytes: SNAPSHOT_PART_BYTES,
    log,
  };
}

function createRecords(
  { TABLE_NAME, DYNAMODB_ENDPOINT }: RecordSettings,
  { AWS_LAMBDA_FUNCTION_NAME }: Environment,
): RunRecords {
  return createRunRecords({
    client: namedClient(
      createDocumentClient(DYNAMODB_ENDPOINT),
      `The table ${TABLE_NAME} of TABLE_NAME`,
    ),
    tableName: TABLE_NAME,
    clock: () => new Date(),
    // On AWS Lambda, a process cannot see whether the process of another invocation still runs.
    ...(AWS_LAMBDA_FUNCTION_NAME === undefined && { holder: createLeaseHolder() }),
  });
}

/** Opens the backend alone, for a check of it. @throws like `openServices` */
export async function openBackend(environment: Environment): Promise<MemoryBackend> {
  const { backend } = await openBackends(
    readBackendSettings(environment),
    openSecrets(environment),
  );
  return backend;
}

async function openBackends(
  settings: BackendSettings & Pick<StepSettings, 'MEMORY_PREVIEW_URL'>,
  secrets: Secrets,
) {
  const { MEMORY_BACKEND_URL, MEMORY_PREVIEW_URL, MEMORY_BACKEND_PATHS = '' } = settings;
  const paths = Object.fromEntries(
    MEMORY_BACKEND_PATHS.split(',').map((pair) => pair.split('=', 2)),
  );
  const apiKey = await secrets.read('MEMORY_BACKEND_KEY');
  const createBackend = (url: string, service: string) =>
    createHttpMemoryBackend({ url, apiKey, timeoutMs: BACKEND_TIMEOUT_MS, service, paths });
  return {
    backend: createBackend(MEMORY_BACKEND_URL, 'The memory backend of MEMORY_BACKEND_URL'),
    preview: MEMORY_PREVIEW_URL
      ? createBackend(MEMORY_PREVIEW_URL, 'The new version of MEMORY_PREVIEW_URL')
      : undefined,
  };
}

// The driver is imported only here: it is more than half of all modules, and most migrations have no graph.
async function openGraph(
  url: string,
  { NEO4J_DATABASE: database, NEO4J_USER: user }: StepSettings,
  secrets: Secrets,
) {
  const { openNeo4j } = await import('./adapters/neo4j.ts');
  const password = (await secrets.read('NEO4J_PASSWORD')).reveal();
  return openNeo4j({ url, database, user, password });
}

function openSetting(url: URL): CollectionSetting {
  return url.protocol === 'file:'
    ? createFileCollectionSetting(fileURLToPath(url))
    : createSsmCollectionSetting({
        client: namedClient(new SSMClient(), 'The setting of COLLECTION_SETTING'),
        parameter: url.pathname,
      });
}

export function openSecrets(environment: Environment): Secrets {
  const client = namedClient(new SSMClient(), 'Systems Manager, which keeps the secrets');
  return createSecrets({ client, environment });
}
