// Settings from the environment, all checked before the first request to any service
import * as v from 'valibot';
import { ENDPOINT_NAMES } from './adapters/http-memory-backend.ts';
import { Refusal } from './refusals.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const NO_TABLE =
  'is not set: it names the table that records the run; with DATA_DIR, a table of that name is created';

/** Settings of the functions that use only the records of runs: `status` and `confirm` */
const recordSchema = v.object({
  TABLE_NAME: v.pipe(v.string(NO_TABLE), v.regex(/^[\w.-]{3,255}$/, 'is not a table name')),
  DYNAMODB_ENDPOINT: v.optional(createUrlSchema('http://localhost:8000', isDatabaseUrl)),
});

const PATHS_PATTERN = new RegExp(
  `^(${ENDPOINT_NAMES.join('|')})=/[^,?#\\s]*(,(${ENDPOINT_NAMES.join('|')})=/[^,?#\\s]*)*$`,
);

/** Settings of a check of the memory backend alone */
const backendSchema = v.object({
  MEMORY_BACKEND_URL: createUrlSchema('https://memory.example'),
  MEMORY_BACKEND_PATHS: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        PATHS_PATTERN,
        `is not like search=/search,stats=/counts/{user}: ${ENDPOINT_NAMES.join(', ')}`,
      ),
    ),
  ),
  MEMORY_BACKEND_KEY: v.optional(v.string()),
});

/** Settings of every step */
const stepSchema = v.object({
  ...recordSchema.entries,
  QDRANT_URL: createUrlSchema('https://qdrant.example:6333'),
  QDRANT_API_KEY: v.optional(v.string()),
  ...backendSchema.entries,
  MEMORY_PREVIEW_URL: v.optional(createUrlSchema('https://preview.memory.example')),
  COLLECTION_SETTING: createUrlSchema('file:///path or ssm:/parameter', isSettingUrl),
  ARTIFACTS_URL: createUrlSchema('s3://bucket/prefix or file:///folder', isFolderUrl),
  ARTIFACTS_BUCKET_OWNER: v.optional(
    v.pipe(v.string(), v.regex(/^\d{12}$/, 'is not an account id of 12 digits')),
  ),
  NEO4J_URL: v.optional(
    v.pipe(
      createUrlSchema('neo4j+s://graph.example:7687', isGraphUrl),
      v.check(
        hasNoPath,
        'is an address with a path, which the driver ignores: name the database with NEO4J_DATABASE',
      ),
    ),
  ),
  NEO4J_DATABASE: v.optional(
    v.pipe(v.string(), v.regex(/^[A-Za-z][A-Za-z0-9.-]{2,62}$/, 'is not a database name')),
  ),
  NEO4J_USER: v.optional(v.string(), 'neo4j'),
  NEO4J_PASSWORD: v.optional(v.string()),
  MIGRATION_WEBHOOK_URL: v.optional(createUrlSchema('https://hooks.example/migration', isWebUrl)),
  MIGRATION_WEBHOOK_TOKEN: v.optional(v.string()),
});

/** Settings for restoring the graph: the target graph and the location of its dump */
const restoreSchema = v.object({
  ARTIFACTS_URL: stepSchema.entries.ARTIFACTS_URL,
  ARTIFACTS_BUCKET_OWNER: stepSchema.entries.ARTIFACTS_BUCKET_OWNER,
  NEO4J_URL: stepSchema.entries.NEO4J_URL.wrapped,
  NEO4J_DATABASE: stepSchema.entries.NEO4J_DATABASE,
  NEO4J_USER: stepSchema.entries.NEO4J_USER,
});

export type RecordSettings = v.InferOutput<typeof recordSchema>;
export type BackendSettings = v.InferOutput<typeof backendSchema>;
export type StepSettings = v.InferOutput<typeof stepSchema>;

/** @throws Refusal naming every variable that is missing or invalid, with an example of each */
export function readRecordSettings(environment: Environment): RecordSettings {
  return readSettings(recordSchema, environment);
}

/** @throws Refusal, as above */
export function readBackendSettings(environment: Environment): BackendSettings {
  return readSettings(backendSchema, environment, ['MEMORY_BACKEND_KEY']);
}

/** @throws Refusal, as above */
export function readStepSettings(environment: Environment): StepSettings {
  const graph = environment.NEO4J_URL ? ['NEO4J_PASSWORD'] : [];
  return readSettings(stepSchema, environment, ['MEMORY_BACKEND_KEY', ...graph]);
}

/** @throws Refusal, as above */
export function readRestoreSettings(environment: Environment) {
  return readSettings(restoreSchema, environment, ['NEO4J_PASSWORD']);
}

// An empty variable counts as unset. Values are never quoted: an address may contain a secret.
function readSettings<Schema extends v.ObjectSchema<v.ObjectEntries, undefined>>(
  schema: Schema,
  environment: Environment,
  secrets: readonly string[] = [],
): v.InferOutput<Schema> {
  const names = Object.keys(schema.entries);
  const values = Object.fromEntries(names.map((name) => [name, environment[name] || undefined]));
  const result = v.safeParse(schema, values);
  const issues = result.issues ?? [];
  const problems = [
    ...issues.map((issue) => `${v.getDotPath(issue)} ${issue.message}`),
    ...listMissingSecrets(environment, secrets),
  ];
  if (result.success && problems.length === 0) return result.output;
  throw new Refusal('RefusedSetting', `${problems.join('; ')}.`);
}

// NAME_PARAMETER names the parameter on AWS that contains the secret; if it is unset, NAME is the secret itself.
function listMissingSecrets(environment: Environment, names: readonly string[]): string[] {
  return names
    .filter((name) => !environment[name] && !environment[`${name}_PARAMETER`])
    .map((name) => `${name} is not set, nor is ${name}_PARAMETER, which names where it is kept`);
}

function createUrlSchema(example: string, isAllowed: (url: URL) => boolean = isBaseUrl) {
  const isUsable = (text: string) => {
    const url = URL.parse(text);
    return url !== null && url.username === '' && url.password === '' && isAllowed(url);
  };
  return v.pipe(
    v.string(`is not set; an example: ${example}`),
    v.check(isUsable, `is not like ${example}`),
  );
}

function isWebUrl({ protocol }: URL): boolean {
  return /^https?:$/.test(protocol);
}

/** True if paths can be appended to the address. */
function isBaseUrl(url: URL): boolean {
  return isWebUrl(url) && url.search === '' && url.hash === '';
}

/** Also accepts a socket, for a local database. */
function isDatabaseUrl(url: URL): boolean {
  return url.protocol === 'unix:' || isBaseUrl(url);
}

function isSettingUrl({ protocol, host, pathname }: URL): boolean {
  return /^(file|ssm):$/.test(protocol) && host === '' && pathname.length > 1;
}

function isFolderUrl({ protocol, host }: URL): boolean {
  return protocol === 's3:' ? host !== '' : protocol === 'file:' && host === '';
}

function hasNoPath(text: string): boolean {
  return ['', '/'].includes(URL.parse(text)?.pathname ?? '');
}

function isGraphUrl({ protocol, host }: URL): boolean {
  return /^(neo4j|bolt)(\+s(sc)?)?:$/.test(protocol) && host !== '';
}
