// The functions of the migration are packaged as they lie in functions/migration/, each with the variables it reads,
// a heap that keeps the copy small, and time enough for a step.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FUNCTION_NAMES } from '../../local/migrate/commands.ts';
import { deployedName } from '../../local/migrate/stage-place.ts';
import {
  bundleOf,
  migrationFunctionsOf,
  readTemplate,
  resourcesOf,
  STAGES,
  sourcesOf,
} from '../support/packaged-template.ts';
import { startBundle } from '../support/started-bundle.ts';

const FOLDER = join(import.meta.dirname, '../../functions/migration');
// Drivers of a graph store and of an object store; the API's functions have neither.
const LARGEST_BUNDLE = 1280 * 1024;
const QUICK = ['migration/start', 'migration/status', 'migration/approve'];
const NODE_OPTIONS = '--enable-source-maps --max-old-space-size=160 --max-semi-space-size=8';

describe.each(STAGES)('functions of the migration in stage %s', (stage) => {
  const functions = migrationFunctionsOf(readTemplate(stage));

  it('are the files of functions/migration', () => {
    const files = readdirSync(FOLDER).filter((file) => file.endsWith('.ts'));
    const names = functions.map(([name]) => `${name.replace('migration/', '')}.ts`);
    expect(names.sort()).toEqual(files.sort());
  });

  describe.each(functions)('%s', (name, properties) => {
    const bundle = bundleOf(stage, properties);

    it('runs on Node 24 and arm64, within limits of its own, traced', () => {
      expect(properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        MemorySize: 1024,
        Timeout: QUICK.includes(name) ? 60 : 900,
        TracingConfig: { Mode: 'Active' },
      });
      expect(properties).not.toHaveProperty('ReservedConcurrentExecutions');
    });

    it('knows of what nobody has named yet just where it would be kept', () => {
      expect(properties.Environment.Variables).toEqual({
        TABLE_NAME: `finance-ledger-${stage}`,
        AUTH: 'required',
        AUTH_ISSUER: '',
        AUTH_AUDIENCE: '',
        LEDGER_ID: 'default',
        TIME_ZONE: 'UTC',
        NODE_OPTIONS,
        MEMORY_BACKEND_KEY_PARAMETER: `/finance-ledger/${stage}/memory-backend-key`,
        NEO4J_USER: 'neo4j',
        COLLECTION_SETTING: `ssm:/finance-ledger/${stage}/memory-collection`,
        ARTIFACTS_URL: `s3://finance-ledger-${stage}.example/migration`,
      });
    });

    it('is one bundle of at most 1.25 MB and its source map', () => {
      const file = `functions/${name}.mjs`;
      expect(Object.keys(bundle).sort()).toEqual([file, `${file}.map`]);
      expect(bundle[file]?.byteLength).toBeLessThanOrEqual(LARGEST_BUNDLE);
    });

    it('holds its own entry point, the library and packages, nothing local and no test', () => {
      const strangers = sourcesOf(bundle).filter(
        (source) => source !== `functions/${name}.ts` && !/^(lib|node_modules)\//.test(source),
      );
      expect(strangers).toEqual([]);
    });
  });
});

describe.each(STAGES)('the command line, on stage %s', (stage) => {
  const functions = migrationFunctionsOf(readTemplate(stage));

  it.each(FUNCTION_NAMES)('finds the function %s', (file) => {
    const name = deployedName(file, stage);
    const found = functions.filter(([, { FunctionName }]) => FunctionName === name);
    expect(found.map(([entry]) => entry)).toEqual([`migration/${file}`]);
  });
});

describe('a stage with something to migrate', () => {
  const template = readTemplate('migrating');

  it.each(migrationFunctionsOf(template))('tells %s where it is', (_name, properties) => {
    expect(properties.Environment.Variables).toEqual({
      TABLE_NAME: 'finance-ledger-prod',
      AUTH: 'required',
      AUTH_ISSUER: '',
      AUTH_AUDIENCE: '',
      LEDGER_ID: 'default',
      TIME_ZONE: 'UTC',
      NODE_OPTIONS,
      QDRANT_URL: 'https://qdrant.example:6333',
      QDRANT_API_KEY_PARAMETER: '/memory/qdrant-key',
      MEMORY_BACKEND_URL: 'https://memory.example',
      MEMORY_BACKEND_KEY_PARAMETER: '/memory/backend-key',
      MEMORY_PREVIEW_URL: 'https://preview.example',
      NEO4J_URL: 'neo4j+s://graph.example',
      NEO4J_USER: 'reader',
      NEO4J_PASSWORD_PARAMETER: '/aws/reference/secretsmanager/memory/neo4j',
      MIGRATION_WEBHOOK_URL: 'https://hooks.example/migration',
      MIGRATION_WEBHOOK_TOKEN_PARAMETER: '/memory/webhook-token',
      COLLECTION_SETTING: 'ssm:/memory/collection',
      ARTIFACTS_URL: 's3://memory-backups.example/of/memories',
    });
  });
});

describe('bundles of the migration started as they are deployed', { timeout: 30_000 }, () => {
  it.each(migrationFunctionsOf(readTemplate('prod')))('%s', (_name, properties) => {
    const started = startBundle(bundleOf('prod', properties), properties);
    expect(started).toMatchObject({ handler: 'function' });
  });
});

describe('the watch', () => {
  it.each([
    ['prod', 'DISABLED'],
    ['migrating', 'ENABLED'],
  ] as const)(
    'is kept daily and every two minutes where there is a store: %s, %s',
    (stage, State) => {
      const rules = resourcesOf(readTemplate(stage), 'AWS::Events::Rule').map(
        ([, { Properties }]) => Properties,
      );
      const Targets = [
        expect.objectContaining({
          Arn: { 'Fn::GetAtt': ['MigrationRetentionLambdaFunction', 'Arn'] },
        }),
      ];
      expect(rules).toEqual([
        { ScheduleExpression: 'rate(1 day)', State, Targets },
        { ScheduleExpression: 'rate(2 minutes)', State, Targets },
      ]);
    },
  );

  it('is left to the next one when it fails', () => {
    const invocations = resourcesOf(readTemplate('prod'), 'AWS::Lambda::EventInvokeConfig');
    expect(invocations.map(([, { Properties }]) => Properties)).toEqual([
      expect.objectContaining({
        FunctionName: { Ref: 'MigrationRetentionLambdaFunction' },
        MaximumRetryAttempts: 0,
      }),
    ]);
  });

  it('is all that anybody but operators and the state machine may invoke', () => {
    const template = readTemplate('prod');
    expect(resourcesOf(template, 'AWS::Lambda::Url')).toEqual([]);
    const permissions = resourcesOf(template, 'AWS::Lambda::Permission')
      .map(([, { Properties }]) => Properties)
      .filter((properties) => /"Migration\w+LambdaFunction"/.test(JSON.stringify(properties)));
    const rules = resourcesOf(template, 'AWS::Events::Rule').map(([name]) => name);
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
