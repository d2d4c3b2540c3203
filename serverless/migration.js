// The migration of the memory backend as it is deployed: functions and roles from the migrationAccess lines
// of serverless.yml, and the state machine that drives them. A local start has none of it.
import { readFile } from 'node:fs/promises';
import {
  artifactPolicies,
  runPolicies,
  secretPolicies,
  settingPolicies,
} from './migration-policies.js';
import { allow, arnOf, policy, role, trust } from './roles.js';

const DEFINITION = '../functions/migration/memory-migration.asl.json';

// docs/decisions/copy-memory.md
const NODE_OPTIONS = '--enable-source-maps --max-old-space-size=160 --max-semi-space-size=8';

// These look up or note down; every other function works until Lambda's longest time is nearly over.
const QUICK = ['migrationStart', 'migrationStatus', 'migrationApprove'];

/** Functions of serverless.yml, without a route: operators and the state machine invoke them. */
export async function functions(serverless) {
  const lines = await accessLines(serverless);
  const environment = lines.length > 0 ? await environmentOf(serverless) : {};
  return Object.fromEntries(
    lines.map(([name]) => [
      name,
      {
        handler: `functions/migration/${fileOf(name)}.handler`,
        role: `${logical(name)}Role`,
        memorySize: 1024,
        timeout: QUICK.includes(name) ? 60 : 900,
        environment,
        ...(name === 'migrationRetention' ? watch(environment) : {}),
      },
    ]),
  );
}

/** The machine with a role of its own; the definition is the one that the tests execute. */
export async function stepFunctions(serverless) {
  const lines = await accessLines(serverless);
  if (lines.length === 0) return { stateMachines: {} };
  const stage = await serverless.resolveVariable('sls:stage');
  const text = await readFile(new URL(DEFINITION, import.meta.url), 'utf8');
  return {
    stateMachines: {
      memoryMigration: {
        id: 'MemoryMigration',
        name: `finance-ledger-${stage}-memory-migration`,
        role: { 'Fn::GetAtt': ['MemoryMigrationRole', 'Arn'] },
        definition: JSON.parse(text.replaceAll(`\${sls:stage}`, stage)),
      },
    },
  };
}

/** CloudFormation resources: a role of each function, and the machine's. */
export async function roles(serverless) {
  const lines = await accessLines(serverless);
  if (lines.length === 0) return {};
  const { resolveVariable } = serverless;
  const tableArn = arnOf(await resolveVariable('param:tableName'));
  const artifactsUrl = await resolveVariable('param:artifactsUrl');
  const parameter = await resolveVariable('param:collectionParameter');
  const secrets = Object.entries(await environmentOf(serverless)).filter(isSecret);
  const ofFunctions = lines.map(([name, access]) => [
    `${logical(name)}Role`,
    role(`${logical(name)}LogGroup`, [
      ...runPolicies(tableArn, access.runs),
      ...secretPolicies(secrets.map(([, secret]) => secret)),
      ...settingPolicies(parameter, access.setting),
      ...artifactPolicies(artifactsUrl, access.artifacts),
    ]),
  ]);
  return { ...Object.fromEntries(ofFunctions), MemoryMigrationRole: await machineRole() };
}

async function machineRole() {
  const text = await readFile(new URL(DEFINITION, import.meta.url), 'utf8');
  const driven = [...new Set(text.match(/(?<=-)migration[A-Z]\w*/g))];
  const resources = driven.map((name) => ({
    'Fn::GetAtt': [`${logical(name)}LambdaFunction`, 'Arn'],
  }));
  return {
    Type: 'AWS::IAM::Role',
    Properties: {
      AssumeRolePolicyDocument: trust('states.amazonaws.com'),
      Policies: [policy('migration-functions', [allow(['lambda:InvokeFunction'], resources)])],
    },
  };
}

async function accessLines({ resolveVariable, resolveConfigurationProperty }) {
  if ((await resolveVariable('sls:stage')) === 'local') return [];
  return Object.entries(await resolveConfigurationProperty(['custom', 'migrationAccess']));
}

/** What lib/migration/settings.ts reads; without the variables that say nothing. */
async function environmentOf({ resolveVariable }) {
  const param = (name) => resolveVariable(`param:${name}`);
  const variables = {
    NODE_OPTIONS,
    QDRANT_URL: await param('qdrantUrl'),
    QDRANT_API_KEY_PARAMETER: await param('qdrantKeyParameter'),
    MEMORY_BACKEND_URL: await param('memoryBackendUrl'),
    MEMORY_BACKEND_KEY_PARAMETER: await param('memoryBackendKeyParameter'),
    MEMORY_PREVIEW_URL: await param('memoryPreviewUrl'),
    NEO4J_URL: await param('neo4jUrl'),
    NEO4J_USER: await param('neo4jUser'),
    NEO4J_PASSWORD_PARAMETER: await param('neo4jPasswordParameter'),
    MIGRATION_WEBHOOK_URL: await param('migrationWebhookUrl'),
    MIGRATION_WEBHOOK_TOKEN_PARAMETER: await param('migrationWebhookTokenParameter'),
    COLLECTION_SETTING: `ssm:${await param('collectionParameter')}`,
    ARTIFACTS_URL: await param('artifactsUrl'),
  };
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
}

function isSecret([variable]) {
  return variable.endsWith('_PARAMETER');
}

// Once a day for the days of the way back, and every few minutes for a window that has to close. A watch that
// fails is not repeated: the next one is near. Without a store to migrate nothing is watched.
function watch({ QDRANT_URL }) {
  const enabled = QDRANT_URL !== undefined;
  const schedules = ['rate(1 day)', 'rate(2 minutes)'];
  return {
    maximumRetryAttempts: 0,
    events: schedules.map((rate) => ({ schedule: { rate: [rate], enabled } })),
  };
}

function fileOf(name) {
  return name.replace(/^migration/, '').toLowerCase();
}

function logical(name) {
  return name[0].toUpperCase() + name.slice(1);
}
