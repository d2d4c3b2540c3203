// A function of the migration reaches the runs in the table, its secrets, and of setting and artifacts what it needs.
import { describe, expect, it } from 'vitest';
import {
  logGroupOf,
  type RoleProperties,
  roleOf,
  type Statement,
  statementsOf,
} from '../support/granted-access.ts';
import { migrationFunctionsOf, type Packaged, readTemplate } from '../support/packaged-template.ts';

type Access = Record<'dynamodb' | 's3' | 'setting', string[]>;

const STEP = ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'];
const LOOK = ['GetParameter'];
const CHANGE = ['GetParameter', 'PutParameter'];
const KEEP = [
  ...['GetObject', 'GetObjectTagging', 'GetObjectRetention'],
  ...['PutObject', 'PutObjectTagging', 'AbortMultipartUpload'],
  ...['ListBucket', 'ListBucketMultipartUploads'],
];
const REPLACE = [...KEEP, 'DeleteObjectVersion', 'ListBucketVersions'];
const RETAIN = [...KEEP, 'PutObjectRetention', 'GetBucketObjectLockConfiguration'];
const ALL = [...new Set([...REPLACE, ...RETAIN])];

const EXPECTED_ACCESS: Record<string, Access> = {
  'migration/status': { dynamodb: ['GetItem'], setting: [], s3: [] },
  'migration/confirm': { dynamodb: ['GetItem', 'PutItem'], setting: [], s3: [] },
  'migration/preflight': { dynamodb: STEP, setting: LOOK, s3: RETAIN },
  'migration/backup': { dynamodb: STEP, setting: [], s3: REPLACE },
  'migration/rebuild': { dynamodb: STEP, setting: LOOK, s3: KEEP },
  'migration/copy': { dynamodb: STEP, setting: [], s3: KEEP },
  'migration/verify': { dynamodb: STEP, setting: [], s3: KEEP },
  'migration/freeze': { dynamodb: STEP, setting: [], s3: KEEP },
  'migration/cutover': { dynamodb: STEP, setting: CHANGE, s3: RETAIN },
  'migration/rollback': { dynamodb: STEP, setting: CHANGE, s3: ALL },
  'migration/abort': { dynamodb: STEP, setting: LOOK, s3: [] },
  'migration/retention': { dynamodb: STEP, setting: CHANGE, s3: ALL },
};
const NAMES = Object.keys(EXPECTED_ACCESS);
const PLACES = {
  prod: {
    setting: 'parameter/finance-ledger/prod/memory-collection',
    objects: 'no bucket is named',
  },
  migrating: {
    setting: 'parameter/memory/collection',
    objects: 's3:::memory-backups.example/of/memories/*',
  },
} as const;
type Described = keyof typeof PLACES;

const RECORD_ALONE = ['migration/status', 'migration/confirm'];
const REACHES: Readonly<Record<string, readonly string[]>> = {
  'migration/preflight': ['graph'],
  'migration/backup': ['graph'],
  'migration/freeze': ['webhook'],
  'migration/cutover': ['webhook'],
  'migration/rollback': ['webhook'],
  'migration/retention': ['webhook'],
};

const inAccount = (service: string) =>
  `arn:\${AWS::Partition}:${service}:\${AWS::Region}:\${AWS::AccountId}`;
const SECRETS: Record<Described, Record<string, string[]>> = {
  prod: {},
  migrating: {
    step: [
      `${inAccount('ssm')}:parameter/memory/backend-key`,
      `${inAccount('ssm')}:parameter/memory/qdrant-key`,
    ],
    webhook: [`${inAccount('ssm')}:parameter/memory/webhook-token`],
    graph: [
      `${inAccount('ssm')}:parameter/aws/reference/secretsmanager/memory/neo4j`,
      `${inAccount('secretsmanager')}:secret:memory/neo4j-??????`,
    ],
  },
};

// None of these is a whole service or account: streams, runs, versions of one parameter, one prefix, and the
// characters that Secrets Manager puts behind a name.
function patternsOf({ setting, objects }: (typeof PLACES)[Described]): string[] {
  return [`${setting}:*`, objects, 'neo4j-??????'];
}

describe.each(['prod', 'migrating'] as const)('roles of the migration, %s', (packaged) => {
  const template = readTemplate(packaged);
  const places = PLACES[packaged];
  const isOfSetting = (resource: string) =>
    [places.setting, `${places.setting}:*`].some((name) => resource.endsWith(`:${name}`));

  it('are stated for every function', () => {
    const names = migrationFunctionsOf(template).map(([name]) => name);
    expect(names.sort()).toEqual(NAMES.toSorted());
  });

  it.each(Object.entries(EXPECTED_ACCESS))('%s may do just this', (name, access) => {
    const statements = grantedTo(packaged, name);
    const setting = statements.filter((each) => resourcesIn(each).some(isOfSetting));
    expect({
      dynamodb: operations(statements, 'dynamodb').sort(),
      s3: operations(statements, 's3').sort(),
      setting: operations(setting, 'ssm').sort(),
    }).toEqual({
      dynamodb: access.dynamodb.toSorted(),
      s3: packaged === 'migrating' ? access.s3.toSorted() : [],
      setting: access.setting.toSorted(),
    });
  });

  it.each(NAMES)('%s reaches of the table the runs alone', (name) => {
    const [statement, ...others] = grantedTo(packaged, name).filter(isOf('dynamodb'));
    expect(others).toEqual([]);
    expect(statement).toMatchObject({
      Resource: [{ 'Fn::Sub': expect.stringMatching(/:table\/finance-ledger-prod$/) }],
      Condition: {
        'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['@migration', '@migration#*'] },
      },
    });
  });

  it.each(NAMES)(
    '%s reads the secrets of what it reaches, and nothing else that is secret',
    (name) => {
      const read = grantedTo(packaged, name)
        .filter((each) => isOf('ssm')(each) || isOf('secretsmanager')(each))
        .flatMap(resourcesIn)
        .filter((resource) => !isOfSetting(resource));
      const groups = RECORD_ALONE.includes(name) ? [] : ['step', ...(REACHES[name] ?? [])];
      const named = groups.flatMap((group) => SECRETS[packaged][group] ?? []);
      expect(read.sort()).toEqual(named.sort());
    },
  );

  it.each(NAMES)('%s is given addresses of what it reaches alone', (name) => {
    const [, { Environment }] = migrationFunctionsOf(template).find(([each]) => each === name) ?? [
      '',
      { Environment: { Variables: {} } },
    ];
    const variables = Object.keys(Environment.Variables);
    const reaches = REACHES[name] ?? [];
    const isMigrating = packaged === 'migrating';
    expect(variables.some((each) => each.startsWith('NEO4J_URL'))).toBe(
      isMigrating && reaches.includes('graph'),
    );
    expect(variables.some((each) => each.startsWith('MIGRATION_WEBHOOK'))).toBe(
      isMigrating && reaches.includes('webhook'),
    );
    expect(variables.includes('QDRANT_URL')).toBe(isMigrating && !RECORD_ALONE.includes(name));
  });

  it.each(NAMES)('%s reaches artifacts in this account alone', (name) => {
    for (const statement of grantedTo(packaged, name).filter(isOf('s3'))) {
      expect(statement).toMatchObject({
        Condition: { StringEquals: { 'aws:ResourceAccount': { Ref: 'AWS::AccountId' } } },
      });
    }
  });

  it.each(NAMES)('%s is trusted to Lambda, allowed only, and has no wildcard besides', (name) => {
    const role = roleOf(template, name);
    expect(JSON.stringify(role.AssumeRolePolicyDocument)).toContain('"lambda.amazonaws.com"');
    for (const { Effect, Action, Resource } of statementsOf(role)) {
      expect(Effect).toBe('Allow');
      expect(JSON.stringify(Action)).not.toMatch(/[*?]|Scan|Query/);
      for (const resource of Resource) expect(wildcardOf(places, resource)).toBeUndefined();
    }
  });

  it.each(NAMES)('%s writes to its own log group alone', (name) => {
    expect(grantedTo(packaged, name).filter(isOf('logs'))).toEqual([
      {
        Effect: 'Allow',
        Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        Resource: [{ 'Fn::GetAtt': [logGroupOf(template, name), 'Arn'] }],
      },
    ]);
  });
});

// What the Step Functions guide lists for its log delivery; these actions know no resources.
const LOG_DELIVERY = [
  'logs:CreateLogDelivery',
  'logs:GetLogDelivery',
  'logs:UpdateLogDelivery',
  'logs:DeleteLogDelivery',
  'logs:ListLogDeliveries',
  'logs:PutResourcePolicy',
  'logs:DescribeResourcePolicies',
  'logs:DescribeLogGroups',
];

describe('the role of the state machine', () => {
  const { Resources } = readTemplate('prod');
  const role = Resources.MemoryMigrationRole as { readonly Properties: RoleProperties };

  it('invokes what the machine names, and does nothing else', () => {
    const driven = 'Status Preflight Backup Rebuild Copy Verify Freeze Cutover Rollback';
    expect(statementsOf(role.Properties)).toEqual([
      {
        Effect: 'Allow',
        Action: ['lambda:InvokeFunction'],
        Resource: driven
          .split(' ')
          .map((name) => ({ 'Fn::GetAtt': [`Migration${name}LambdaFunction`, 'Arn'] })),
      },
      { Effect: 'Allow', Action: LOG_DELIVERY, Resource: ['*'] },
    ]);
    expect(role.Properties.ManagedPolicyArns).toEqual([
      { 'Fn::Sub': expect.stringMatching(/AWSXRayDaemonWriteAccess$/) },
    ]);
    expect(JSON.stringify(role.Properties.AssumeRolePolicyDocument)).toContain(
      '"states.amazonaws.com"',
    );
  });
});

function grantedTo(packaged: Packaged, name: string): Statement[] {
  return statementsOf(roleOf(readTemplate(packaged), name));
}

function isOf(service: string): (statement: Statement) => boolean {
  return ({ Action }) => Action.some((action) => action.startsWith(`${service}:`));
}

/** Of one service, each once. */
function operations(statements: Statement[], service: string): string[] {
  const actions = statements.filter(isOf(service)).flatMap(({ Action }) => Action);
  return [...new Set(actions.map((action) => action.slice(service.length + 1)))];
}

function resourcesIn({ Resource }: Statement): string[] {
  return Resource.map((resource) => (resource as { 'Fn::Sub'?: string })['Fn::Sub'] ?? '');
}

function wildcardOf(places: (typeof PLACES)[Described], resource: unknown): string | undefined {
  const text = (resource as { 'Fn::Sub'?: string })['Fn::Sub'] ?? JSON.stringify(resource);
  if (!/[*?]/.test(text)) return undefined;
  return patternsOf(places).some((pattern) => text.endsWith(pattern)) ? undefined : text;
}
