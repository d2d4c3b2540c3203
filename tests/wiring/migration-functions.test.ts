// The functions of the migration are packaged as they lie in functions/migration/, each with the variables it reads,
// a heap that keeps the copy small, and time enough for a step.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FUNCTION_NAMES } from '../../cli/migrate/commands.ts';
import { deployedName } from '../../cli/migrate/stage-place.ts';
import {
  migrationFunctionsOf,
  readTemplate,
  resourcesOf,
  STAGES,
  theOnly,
} from '../support/packaged-template.ts';

const FOLDER = join(import.meta.dirname, '../../functions/migration');
const QUICK = ['migration/status', 'migration/confirm'];
const OF_GRAPH = ['migration/preflight', 'migration/backup'];
const OF_WEBHOOK = ['freeze', 'cutover', 'rollback', 'retention'].map(
  (name) => `migration/${name}`,
);
const NODE_OPTIONS = '--enable-source-maps --max-old-space-size=160 --max-semi-space-size=8';

const template = readTemplate('migrating');
const functions = migrationFunctionsOf(template);

it.each(STAGES)('a stage %s with nothing to migrate has nothing of a migration', (stage) => {
  const { Resources } = readTemplate(stage);
  expect(Object.keys(Resources).filter((id) => /Migration|Watchdog/.test(id))).toEqual([]);
  expect(Object.values(Resources).filter(({ Type }) => /Events|SQS|Step/.test(Type))).toEqual([]);
});

it('the functions of a migration are the files of functions/migration', () => {
  const names = functions.map(([name]) => `${name.replace('migration/', '')}.ts`);
  expect(names.sort()).toEqual(readdirSync(FOLDER).sort());
});

it.each(functions)('%s runs on Node 24 and arm64, within limits of its own', (name, properties) => {
  expect(properties).toMatchObject({
    Runtime: 'nodejs24.x',
    Architectures: ['arm64'],
    MemorySize: 1024,
    Timeout: QUICK.includes(name) ? 60 : 900,
  });
});

it.each(FUNCTION_NAMES)('the command line finds the function %s', (file) => {
  const name = deployedName(file, 'prod');
  const found = functions.filter(([, { FunctionName }]) => FunctionName === name);
  expect(found.map(([entry]) => entry)).toEqual([`migration/${file}`]);
});

describe('a stage with something to migrate', () => {
  it.each(functions)('gives %s only addresses that it uses', (name, properties) => {
    const variables = Object.keys(properties.Environment.Variables);
    const has = (start: string) => variables.some((variable) => variable.startsWith(start));
    expect(has('NEO4J_URL')).toBe(OF_GRAPH.includes(name));
    expect(has('MIGRATION_WEBHOOK')).toBe(OF_WEBHOOK.includes(name));
    expect(has('QDRANT_URL')).toBe(!QUICK.includes(name));
  });

  it('tells the step that backs up where everything is but the webhook', () => {
    const [, properties] = functions.find(([name]) => name === 'migration/backup') ?? [];
    expect(properties?.Environment.Variables).toEqual({
      TABLE_NAME: 'finance-ledger-prod',
      AUTH: 'required',
      AUTH_ISSUER: '',
      AUTH_AUDIENCE: '',
      LEDGER_ID: 'default',
      TIME_ZONE: 'UTC',
      NODE_OPTIONS,
      METRICS_NAMESPACE: 'finance-ledger-prod',
      QDRANT_URL: 'https://qdrant.example:6333',
      QDRANT_API_KEY_PARAMETER: '/memory/qdrant-key',
      MEMORY_BACKEND_URL: 'https://memory.example',
      MEMORY_BACKEND_KEY_PARAMETER: '/memory/backend-key',
      MEMORY_PREVIEW_URL: 'https://preview.example',
      NEO4J_URL: 'neo4j+s://graph.example',
      NEO4J_USER: 'reader',
      NEO4J_PASSWORD_PARAMETER: '/aws/reference/secretsmanager/memory/neo4j',
      COLLECTION_SETTING: 'ssm:/memory/collection',
      ARTIFACTS_URL: 's3://memory-backups.example/of/memories',
      ARTIFACTS_BUCKET_OWNER: { Ref: 'AWS::AccountId' },
    });
  });
});

const RULES = resourcesOf(template, 'AWS::Events::Rule').filter(([id]) =>
  id.startsWith('Watchdog'),
);
const FAILURES = { 'Fn::GetAtt': ['WatchdogFailures', 'Arn'] };

describe('the watchdog', () => {
  it('runs daily and every two minutes', () => {
    const rules = RULES.map(([, { Properties }]) => Properties);
    const Targets = [
      {
        Id: 'watchdog',
        Arn: { 'Fn::GetAtt': ['MigrationRetentionLambdaFunction', 'Arn'] },
        RetryPolicy: { MaximumRetryAttempts: 5, MaximumEventAgeInSeconds: 300 },
        DeadLetterConfig: { Arn: FAILURES },
      },
    ];
    expect(rules).toEqual([
      { ScheduleExpression: 'rate(1 day)', State: 'ENABLED', Targets },
      { ScheduleExpression: 'rate(2 minutes)', State: 'ENABLED', Targets },
    ]);
  });

  it('is retried when it fails, and then kept in a queue', () => {
    const invocations = resourcesOf(template, 'AWS::Lambda::EventInvokeConfig').filter(([id]) =>
      id.startsWith('Migration'),
    );
    expect(invocations.map(([, { Properties }]) => Properties)).toEqual([
      expect.objectContaining({
        FunctionName: { Ref: 'MigrationRetentionLambdaFunction' },
        MaximumRetryAttempts: 2,
        MaximumEventAgeInSeconds: 300,
        DestinationConfig: { OnFailure: { Destination: FAILURES } },
      }),
    ]);
  });

  it('always finds room in Lambda, as a rollback does', () => {
    const reserved = functions
      .filter(([, properties]) => properties.ReservedConcurrentExecutions !== undefined)
      .map(([name, properties]) => [name, properties.ReservedConcurrentExecutions]);
    expect(reserved).toEqual([
      ['migration/rollback', 2],
      ['migration/retention', 2],
    ]);
  });

  it('has schedules that may send to the queue', () => {
    const rules = RULES.map(([name]) => name);
    expect(theOnly(template, 'AWS::SQS::QueuePolicy').Properties).toEqual({
      Queues: [{ Ref: 'WatchdogFailures' }],
      PolicyDocument: {
        Version: '2012-10-17',
        Statement: [
          {
            Effect: 'Allow',
            Principal: { Service: 'events.amazonaws.com' },
            Action: ['sqs:SendMessage'],
            Resource: [FAILURES],
            Condition: {
              ArnEquals: {
                'aws:SourceArn': rules.map((name) => ({ 'Fn::GetAtt': [name, 'Arn'] })),
              },
            },
          },
        ],
      },
    });
  });

  it('is all that anybody but operators and the state machine may invoke', () => {
    expect(resourcesOf(template, 'AWS::Lambda::Url')).toEqual([]);
    const permissions = resourcesOf(template, 'AWS::Lambda::Permission')
      .map(([, { Properties }]) => Properties)
      .filter((properties) => /"Migration\w+LambdaFunction"/.test(JSON.stringify(properties)));
    const rules = RULES.map(([name]) => name);
    expect(permissions).toEqual(
      rules.map((rule) => ({
        Action: 'lambda:InvokeFunction',
        FunctionName: { 'Fn::GetAtt': ['MigrationRetentionLambdaFunction', 'Arn'] },
        Principal: 'events.amazonaws.com',
        SourceArn: { 'Fn::GetAtt': [rule, 'Arn'] },
      })),
    );
  });
});
