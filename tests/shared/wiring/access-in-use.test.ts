// Every role of the packaged service grants exactly the access that its function uses. The tests run the functions and record
// their access. No local engine checks permissions, so a missing permission shows here first.
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { type DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { requireProtectedTable } from '../../../lib/ledger/canary/table-protection.ts';
import { CATEGORY_LIMIT } from '../../../lib/ledger/domain/category.ts';
import { ENDPOINTS_BY_ROUTE } from '../../../lib/ledger/http/endpoints/endpoints-by-route.ts';
import { createKeys, LAST_ID } from '../../../lib/ledger/store/keys.ts';
import { SCHEMA_VERSION } from '../../../lib/ledger/store/schema.ts';
import { createRunRecords } from '../../../lib/migration/runs/run-store.ts';
import { openServices } from '../../../lib/migration/services-from-environment.ts';
import { createDocumentClient } from '../../../lib/shared/document-client.ts';
import { createLocalClient, createTable } from '../../../local/create-table.ts';
import { embeddedEngine, startOnPort } from '../../../local/engine.ts';
import { createResources } from '../../../processes/resources.ts';
import { SOURCE } from '../../../sandbox/world.ts';
import { invoke } from '../../ledger/support/api/invoke.ts';
import { LEDGER_OPERATIONS } from '../../ledger/support/api/routes.ts';
import { createTestKeys } from '../../ledger/support/auth/test-keys.ts';
import { createRecordedRun, type RecordedRun } from '../../migration/support/recorded-run.ts';
import {
  BACKUP_PLAN,
  findRole,
  GRADUAL_RELEASE,
  listAccessNeededByAws,
  listGrantedAccess,
  listRoles,
  type RoleProperties,
  STATE_MACHINE,
} from '../support/granted-access.ts';
import {
  listFunctions,
  listMigrationFunctions,
  listResources,
  type Packaged,
  readTemplate,
  type Template,
} from '../support/packaged-template.ts';
import { type AccessRecorder, openAccessRecorder } from '../support/recorded-access.ts';

const FUNCTIONS = join(import.meta.dirname, '../../../functions');

interface Call {
  readonly id?: number;
  readonly body?: Record<string, unknown>;
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
}
type Step = readonly [name: string, call: Call, status: number];

const BILL = { description: 'Bill', amount: 12.5, type: 'expense', transaction_date: '2026-03-05' };
/** Steps that create categories 1 to 3 and transactions 1 and 2 */
const RECORDS: readonly Step[] = [
  ['categories/create', { body: { name: 'Home' } }, 201],
  ['categories/create', { body: { name: 'Car' } }, 201],
  ['categories/create', { body: { name: 'Spare' } }, 201],
  ['transactions/create', { body: { ...BILL, category_id: 1 } }, 201],
  ['transactions/create', { body: BILL }, 201],
];

/** Filters of reads: each read function is called with each filter that it takes, and with each pair of filters. */
const FILTERS: readonly (readonly [name: string, value: string])[] = [
  ['start_date', '2026-03-02'],
  ['type', 'expense'],
  ['category_id', '1'],
  ['external_id', 'a'],
  ['include_counts', 'true'],
];

/** Steps that use parts of the table which the examples and filters do not reach */
const FURTHER_STEPS: readonly Step[] = [
  [
    'transactions/bulk-create',
    { body: { transactions: [{ ...BILL, external_id: 'a', category_id: 1 }, BILL] } },
    207,
  ],
  [
    'transactions/bulk-update',
    { body: { transactions: [{ id: 3, external_id: null, category_id: 2 }] } },
    207,
  ],
  ['transactions/bulk-update', { body: { transactions: [{ id: 3, external_id: 'a' }] } }, 207],
  [
    'transactions/bulk-delete',
    { body: { transactions: [{ id: 9 }] }, headers: { 'idempotency-key': 'k' } },
    207,
  ],
  ['transactions/bulk-delete', { body: { transactions: [{ id: 4 }] } }, 207],
  ['transactions/update', { id: 3, body: { external_id: null } }, 200],
  ['transactions/update', { id: 1, body: { external_id: 'b' } }, 200],
  [
    'transactions/update',
    { id: 1, body: { category_id: 2, transaction_date: '2025-01-31', type: 'income' } },
    200,
  ],
  ['transactions/delete', { id: 2 }, 200],
  ['transactions/delete', { id: 1 }, 200],
  ['categories/update', { id: 1, body: { color: '#fff' } }, 200],
  ['categories/update', { id: 1, body: { name: 'House' } }, 200],
  ['categories/update', { id: 1, body: { name: 'Car' } }, 409],
  ['categories/delete', { id: 3 }, 200],
  ['imports/record', { body: { import_id: 'i', rows: ['a'] } }, 200],
  ['imports/record', { body: { import_id: 'i', rows: [] } }, 200],
  ['service/health', { query: { deep: '' } }, 200],
  ['service/openapi', {}, 200],
  ['service/preflight', {}, 404],
  ['service/not-found', {}, 404],
];

/** The order matters: records are created before they are read, and read before they are deleted. */
const STEPS = [
  ...RECORDS,
  ...listExamples([...RECORDS, ...FURTHER_STEPS]),
  ...listReads(),
  ...FURTHER_STEPS,
];

/** Lists the example of each endpoint whose function has no step. */
function listExamples(steps: readonly Step[]): Step[] {
  const called = new Set(steps.map(([name]) => name));
  return LEDGER_OPERATIONS.flatMap(([route, name]): Step[] => {
    const endpoint = ENDPOINTS_BY_ROUTE[route];
    if (!endpoint || called.has(name)) return [];
    const { exampleQuery: query = {}, example: body, status = 200 } = endpoint;
    const id = route.includes('{id}') ? { id: 1 } : {};
    return [[name, { ...id, query, ...(body && { body: { ...body } }) }, status]];
  });
}

function listReads(): Step[] {
  return LEDGER_OPERATIONS.flatMap(([route, name]): Step[] => {
    const { query, exampleQuery = {} } = ENDPOINTS_BY_ROUTE[route] ?? {};
    const isFilter = ([name]: readonly [string, string]) => FILTERS.some(([each]) => each === name);
    const required = Object.entries(exampleQuery).filter((each) => !isFilter(each));
    const accepted = FILTERS.filter(([filter]) => query && filter in query.entries);
    const pairs = accepted.flatMap((filter, n) =>
      accepted.slice(n).map((other) => [filter, other]),
    );
    return pairs.map((pair) => [name, { query: Object.fromEntries([...required, ...pair]) }, 200]);
  });
}

const TABLE = 'access-in-use';
const DAY_MS = 86_400_000;

const STEPS_BEFORE_CUTOVER = ['backup', 'rebuild', 'copy'];

/** Virtual clock, which only the waits between calls of a step advance. */
let time = Date.parse('2026-03-01T09:00:00Z');
const advanceClock = (milliseconds: number) => {
  time += milliseconds;
};

async function prepareCutover(run: RecordedRun): Promise<void> {
  await run.raceAgainst(run.start);
  await run.start();
  await run.finish(...STEPS_BEFORE_CUTOVER);
  await run.openWindow();
}

async function expectChangeRefused(
  run: RecordedRun,
  attempt: () => Promise<unknown>,
): Promise<void> {
  expect(await run.raceAgainst(attempt)).toMatchObject({ name: 'RefusedSettingChanged' });
}

/** Runs in which the functions of the migration make every kind of call */
const RUNS: Readonly<Record<string, (run: RecordedRun) => Promise<void>>> = {
  'rolled-back-from-live': async (run) => {
    await prepareCutover(run);
    await expectChangeRefused(run, () => run.finish('cutover'));
    await run.finish('rollback', 'copy');
    await run.openWindow();
    await run.finish('cutover');
    await run.vectors.deleteCollection(SOURCE);
    await expectChangeRefused(run, () => run.finish('rollback'));
    await run.finish('rollback', 'abort');
  },
  aborted: async (run) => {
    await run.start();
    await run.finish('backup', 'rebuild', 'abort');
  },
  'rolled-back-by-watchdog': async (run) => {
    await prepareCutover(run);
    await run.confirmWhenAsked('cutover', 'deploy-new');
    await run.vectors.deleteCollection(SOURCE);
    advanceClock(DAY_MS);
    await expectChangeRefused(run, run.watch);
    await run.watch();
    await run.finish('abort');
  },
  'is-closed': async (run) => {
    await prepareCutover(run);
    await run.confirmWhenAsked('cutover', 'open-writes');
    await run.finish('cutover');
    advanceClock(31 * DAY_MS);
    await run.finish('retention');
  },
};

const hasEngine = embeddedEngine.whyUnavailable() === undefined;

let recorder: AccessRecorder;
const resources = createResources();

beforeAll(async () => {
  if (!hasEngine) return;
  const { endpoint } = await startOnPort(resources, embeddedEngine);
  const client = createLocalClient(endpoint);
  await createTable(client, TABLE);
  client.destroy();
  recorder = await openAccessRecorder(endpoint);
  vi.stubEnv('DYNAMODB_ENDPOINT', recorder.endpoint);
  vi.stubEnv('AWS_ENDPOINT_URL_SSM', recorder.endpoint);
  vi.stubEnv('TABLE_NAME', TABLE);
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  await callEndpoints(endpoint);
  await openDeployedServices();
  await runCanary();
  await migrate();
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await recorder?.close();
  await resources.stop();
});

async function callEndpoints(database: string): Promise<void> {
  const client = createDocumentClient(database);
  const keys = createTestKeys({ client, tableName: TABLE });
  // All ids of categories have been used, so that a create has to look for a free id.
  const sequence = { ...createKeys('default').sequence('category'), [LAST_ID]: CATEGORY_LIMIT };
  await client.send(new PutCommand({ TableName: TABLE, Item: sequence }));
  const secrets = new Map<string, string>();
  for (const [name, call, status] of STEPS) {
    if (name === 'transactions/bulk-create') await forgetVersion(client);
    recorder.recordFor(name);
    // A key for each function: the first use of a key needs more access than later uses.
    const spec = { name, ledger: 'default', scope: 'write' } as const;
    const secret = secrets.get(name) ?? (await keys.create(spec)).secret;
    secrets.set(name, secret);
    expect(await requestStatus(name, call, secret), `${name} ${JSON.stringify(call)}`).toBe(status);
  }
}

/** Removes the version, which earlier releases did not write: the next id is then assigned like the first id of a ledger. */
async function forgetVersion(client: DynamoDBDocumentClient): Promise<void> {
  const Key = createKeys('default').sequence('transaction');
  const input = { TableName: TABLE, Key, UpdateExpression: `REMOVE ${SCHEMA_VERSION}` };
  await client.send(new UpdateCommand(input));
}

/** Makes the canary's own calls to AWS, which read its key and check the table. Its calls to the API are those of any client. */
async function runCanary(): Promise<void> {
  const [, { Environment }] = findCanary(readTemplate('migrating'));
  recorder.recordFor('canary/check');
  const Name = Environment.Variables.CANARY_KEY_PARAMETER;
  await new SSMClient().send(new GetParameterCommand({ Name, WithDecryption: true }));
  const client = new DynamoDBClient({ endpoint: recorder.endpoint });
  // The call fails, because the local engine has no backups; it is recorded anyway.
  await requireProtectedTable(client, TABLE).catch(() => undefined);
}

function findCanary(template: Template) {
  const canary = listFunctions(template).find(([name]) => name === 'canary/check');
  if (!canary) throw new Error('The package has no canary');
  return canary;
}

/** Reads the secrets that a function of the migration is deployed with, as its first invocation does. */
async function openDeployedServices(): Promise<void> {
  for (const [name, { Environment }] of listMigrationFunctions(readTemplate('migrating'))) {
    const { Variables } = Environment;
    if (Variables.QDRANT_URL === undefined) continue;
    recorder.recordFor(name);
    await openServices({
      ...Variables,
      TABLE_NAME: TABLE,
      ARTIFACTS_BUCKET_OWNER: '111122223333',
    });
  }
}

async function migrate(): Promise<void> {
  const records = createRunRecords({ ...recorder.runTable, clock: () => new Date(time) });
  for (const [runId, perform] of Object.entries(RUNS)) {
    const run = await createRecordedRun({ runId, records, recorder, advanceClock });
    await perform(run).finally(run.close);
  }
}

const TRUSTED_SERVICES: Readonly<Record<string, string>> = {
  [STATE_MACHINE]: 'states.amazonaws.com',
  [BACKUP_PLAN]: 'backup.amazonaws.com',
  [GRADUAL_RELEASE]: 'codedeploy.amazonaws.com',
};

const PACKAGED: readonly Packaged[] = ['dev', 'prod', 'migrating'];

describe.skipIf(!hasEngine).each(PACKAGED)('the roles of the package %s', (packaged) => {
  const template = readTemplate(packaged);
  const users = listRoles(template).map(([user]) => user);

  /** Lists access that a role lacks, and access that it grants but nothing uses. */
  function compareAccess(user: string, role: RoleProperties) {
    const used = recorder.usedBy(user);
    const required = [...used, ...listAccessNeededByAws(template, user)];
    const granted = listGrantedAccess(template, role);
    return {
      missing: required.filter((use) => !granted.includes(use)),
      unused: granted.filter((use) => !required.includes(use)),
    };
  }

  it.each(users)('grant %s exactly the access that it uses', (user) => {
    expect(compareAccess(user, findRole(template, user))).toEqual({ missing: [], unused: [] });
  });

  it.each(users)('let one service act for %s', (user) => {
    const Service = TRUSTED_SERVICES[user] ?? 'lambda.amazonaws.com';
    expect(findRole(template, user).AssumeRolePolicyDocument).toEqual({
      Version: '2012-10-17',
      Statement: [{ Effect: 'Allow', Principal: { Service }, Action: 'sts:AssumeRole' }],
    });
  });

  it('each belong to one function or service', () => {
    const roles = listResources(template, 'AWS::IAM::Role').map(([name]) => name);
    expect(listRoles(template).map(([, role]) => role)).toEqual(expect.arrayContaining(roles));
    expect(users).toHaveLength(roles.length);
  });
});

const READERS = LEDGER_OPERATIONS.flatMap(([route, name]) =>
  route.startsWith('GET ') ? name : [],
);

it.skipIf(!hasEngine).each(READERS)('%s only reads ledgers', (name) => {
  const writes = recorder.usedBy(name).filter((use) => !/^dynamodb:(GetItem|Query) /.test(use));
  // The one write records the day on which the API key was last used.
  expect(writes).toEqual(['dynamodb:UpdateItem table of API keys']);
});

it.skipIf(!hasEngine)('a list queries four indexes and the table', () => {
  const queries = recorder.usedBy('transactions/list').filter((use) => /:Query /.test(use));
  expect(queries).toHaveLength(5);
  expect(queries).toContain('dynamodb:Query table of ledgers');
});

async function requestStatus(
  name: string,
  { id, body, query, headers }: Call,
  secret: string,
): Promise<number> {
  const { handler } = await import(join(FUNCTIONS, `${name}.ts`));
  const { statusCode = 0 } = await invoke(handler, {
    headers: { authorization: `Bearer ${secret}`, ...headers },
    pathParameters: id === undefined ? undefined : { id: String(id) },
    queryStringParameters: query,
    body: body && JSON.stringify(body),
    requestContext: { http: { method: 'ANY', path: '/nowhere' } },
  });
  return statusCode;
}
