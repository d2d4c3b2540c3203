// The services of this process, as the environment names them; made with the first invocation, for secrets are fetched.
import { SSMClient } from '@aws-sdk/client-ssm';
import { ConfigurationError } from '../errors.ts';
import { createDocumentClient } from '../store/document-client.ts';
import { createFileCollectionSetting } from './adapters/file-collection-setting.ts';
import { createHttpMemoryBackend } from './adapters/http-memory-backend.ts';
import { openNeo4j } from './adapters/neo4j.ts';
import { openArtifacts } from './adapters/open-artifacts.ts';
import { createQdrant } from './adapters/qdrant.ts';
import { createEnvironmentSecrets, createSsmSecrets } from './adapters/secrets.ts';
import { createSsmCollectionSetting } from './adapters/ssm-collection-setting.ts';
import { askAPerson, createWebhook } from './adapters/webhook.ts';
import type { CollectionSetting } from './ports/collection-setting.ts';
import type { Secrets } from './ports/secrets.ts';
import { createRemembering } from './runs/remembering.ts';
import type { Services } from './services.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A memory is written with a language model's help, which takes its time. */
export const BACKEND_TIMEOUT_MS = 60_000;
const SNAPSHOT_PART_BYTES = 64 * 1024 * 1024;

/** @throws ConfigurationError, or Refusal, naming the variable that is missing or unusable */
export async function servicesFromEnvironment(environment: Environment): Promise<Services> {
  const secrets = secretsOf(environment);
  return {
    ...createRemembering({
      client: createDocumentClient(environment.DYNAMODB_ENDPOINT),
      tableName: required(environment, 'TABLE_NAME'),
      clock: () => new Date(),
    }),
    vectors: createQdrant({
      url: required(environment, 'QDRANT_URL'),
      apiKey: (await optional(secrets, environment, 'QDRANT_API_KEY'))?.reveal(),
    }),
    artifacts: openArtifacts(required(environment, 'ARTIFACTS_URL')),
    setting: openSetting(required(environment, 'COLLECTION_SETTING')),
    ...(await backends(environment, secrets)),
    hooks: environment.MIGRATION_WEBHOOK_URL
      ? createWebhook({
          url: environment.MIGRATION_WEBHOOK_URL,
          token: await optional(secrets, environment, 'MIGRATION_WEBHOOK_TOKEN'),
          timeoutMs: BACKEND_TIMEOUT_MS,
        })
      : askAPerson,
    graph: await openGraph(environment, secrets),
    snapshotPartBytes: SNAPSHOT_PART_BYTES,
  };
}

async function backends(environment: Environment, secrets: Secrets) {
  const apiKey = await secrets.read('MEMORY_BACKEND_KEY');
  const at = (url: string) =>
    createHttpMemoryBackend({ url, apiKey, timeoutMs: BACKEND_TIMEOUT_MS });
  const previewUrl = environment.MEMORY_PREVIEW_URL;
  return {
    backend: at(required(environment, 'MEMORY_BACKEND_URL')),
    preview: previewUrl ? at(previewUrl) : undefined,
  };
}

async function openGraph(environment: Environment, secrets: Secrets) {
  const url = environment.NEO4J_URL;
  if (!url) return undefined;
  const password = (await secrets.read('NEO4J_PASSWORD')).reveal();
  return openNeo4j({ url, user: environment.NEO4J_USER ?? 'neo4j', password });
}

/** `file:///path` or `ssm:/parameter` */
function openSetting(address: string): CollectionSetting {
  const url = URL.parse(address);
  if (url?.protocol === 'file:') return createFileCollectionSetting(url.pathname);
  if (url?.protocol === 'ssm:') {
    return createSsmCollectionSetting({ client: new SSMClient(), parameter: url.pathname });
  }
  throw new ConfigurationError('COLLECTION_SETTING is neither file:///path nor ssm:/parameter');
}

// NAME_PARAMETER says where on AWS the secret NAME is kept; without it, NAME is the secret itself.
function secretsOf(environment: Environment): Secrets {
  const local = createEnvironmentSecrets(environment);
  const kept = createSsmSecrets({
    client: new SSMClient(),
    environment,
  });
  return {
    read: (name) => (environment[`${name}_PARAMETER`] ? kept : local).read(name),
  };
}

async function optional(secrets: Secrets, environment: Environment, name: string) {
  const isGiven = environment[name] || environment[`${name}_PARAMETER`];
  return isGiven ? await secrets.read(name) : undefined;
}

function required(environment: Environment, name: string): string {
  const value = environment[name];
  if (!value) throw new ConfigurationError(`${name} is not set`);
  return value;
}
