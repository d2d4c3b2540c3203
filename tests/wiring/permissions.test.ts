// Each function has a role of its own that can do what its endpoint does, and nothing else.
import { describe, expect, it } from 'vitest';
import {
  functionsOf,
  type Resource,
  readTemplate,
  resourcesOf,
  STAGES,
  type Template,
  theOnly,
} from '../support/packaged-template.ts';

const TABLE = 'the table';
const INDEXES = ['all', 'type', 'category', 'category-type'].map((facet) => `${facet}-by-date`);

const EXPECTED_ACCESS: Record<string, Record<string, string[]>> = {
  'transactions/list': { GetItem: [TABLE], Query: [TABLE, ...INDEXES] },
  'transactions/create': { GetItem: [TABLE], PutItem: [TABLE], UpdateItem: [TABLE] },
  'transactions/read': { GetItem: [TABLE] },
  'transactions/update': { GetItem: [TABLE], PutItem: [TABLE], UpdateItem: [TABLE] },
  'transactions/delete': { DeleteItem: [TABLE], GetItem: [TABLE], UpdateItem: [TABLE] },
  'categories/list': { Query: [TABLE] },
  'categories/create': { GetItem: [TABLE], PutItem: [TABLE], UpdateItem: [TABLE] },
  'categories/read': { GetItem: [TABLE] },
  'categories/update': {
    DeleteItem: [TABLE],
    GetItem: [TABLE],
    PutItem: [TABLE],
    UpdateItem: [TABLE],
  },
  'categories/delete': { GetItem: [TABLE], UpdateItem: [TABLE] },
  'api/preflight': {},
  'api/not-found': {},
};
const READERS = ['transactions/list', 'transactions/read', 'categories/list', 'categories/read'];

describe.each(STAGES)('roles of stage %s', (stage) => {
  const template = readTemplate(stage);

  it('belong to one function each, and every function has one', () => {
    const used = functionsOf(template).map(([, { Role }]) => Role);
    const roles = resourcesOf(template, 'AWS::IAM::Role').map(([name]) => ({
      'Fn::GetAtt': [name, 'Arn'],
    }));
    expect(used).toEqual(expect.arrayContaining(roles));
    expect(used).toHaveLength(roles.length);
  });

  it.each(Object.entries(EXPECTED_ACCESS))('%s reaches of the table just this', (name, access) => {
    expect(tableAccess(template, name)).toEqual(access);
  });

  it.each(READERS)('%s cannot write', (name) => {
    const writes = Object.keys(tableAccess(template, name)).filter(
      (action) => !['GetItem', 'Query'].includes(action),
    );
    expect(writes).toEqual([]);
  });

  it.each(Object.keys(EXPECTED_ACCESS))('%s writes to its own log group alone', (name) => {
    const role = roleOf(template, name);
    expect(role.Policies.find(({ PolicyName }) => PolicyName === 'own-log-group')).toMatchObject({
      PolicyDocument: {
        Statement: [
          {
            Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
            Resource: [{ 'Fn::GetAtt': [logGroupOf(template, name), 'Arn'] }],
          },
        ],
      },
    });
  });

  it.each(Object.keys(EXPECTED_ACCESS))('%s is trusted to Lambda, with no wildcard', (name) => {
    const role = roleOf(template, name);
    expect(role.AssumeRolePolicyDocument).toMatchObject({
      Statement: [
        {
          Effect: 'Allow',
          Principal: { Service: 'lambda.amazonaws.com' },
          Action: 'sts:AssumeRole',
        },
      ],
    });
    expect(JSON.stringify(role)).not.toMatch(/\*|Scan/);
    expect(role.ManagedPolicyArns).toEqual([
      { 'Fn::Sub': expect.stringMatching(/:policy\/AWSXRayDaemonWriteAccess$/) },
    ]);
  });

  it.each(Object.keys(EXPECTED_ACCESS))('%s is granted tables and logs only', (name) => {
    const services = statementsOf(roleOf(template, name)).flatMap(({ Effect, Action }) => {
      expect(Effect).toBe('Allow');
      return Action.map((action) => action.replace(/:.*/, ''));
    });
    expect(['dynamodb', 'logs']).toEqual(expect.arrayContaining([...new Set(services)]));
  });
});

interface Statement {
  readonly Effect: string;
  readonly Action: string[];
  readonly Resource: unknown[];
}

interface RoleProperties {
  readonly AssumeRolePolicyDocument: unknown;
  readonly ManagedPolicyArns: unknown;
  readonly Policies: {
    readonly PolicyName: string;
    readonly PolicyDocument: { readonly Statement: Statement[] };
  }[];
}

function roleOf(template: Template, name: string): RoleProperties {
  const found = functionsOf(template).find(([entryPoint]) => entryPoint === name);
  if (!found) throw new Error(`No function is named ${name}`);
  const [roleName] = (found[1].Role as { 'Fn::GetAtt': [string, string] })['Fn::GetAtt'];
  return (template.Resources[roleName] as Resource<RoleProperties>).Properties;
}

function statementsOf(role: RoleProperties): Statement[] {
  return role.Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
}

/** Allowed table actions with what they reach: the table, or an index by its name. */
function tableAccess(template: Template, name: string): Record<string, string[]> {
  const { TableName: tableName } = theOnly(template, 'AWS::DynamoDB::Table').Properties;
  const access: Record<string, string[]> = {};
  for (const { Action, Resource } of statementsOf(roleOf(template, name))) {
    for (const action of Action) {
      const [service, operation = ''] = action.split(':');
      if (service !== 'dynamodb') continue;
      access[operation] = [
        ...(access[operation] ?? []),
        ...Resource.map((each) => reached(tableName, each)),
      ];
    }
  }
  return access;
}

function reached(tableName: unknown, resource: unknown): string {
  const { 'Fn::Sub': arn } = resource as { 'Fn::Sub': string };
  const table = `arn:\${AWS::Partition}:dynamodb:\${AWS::Region}:\${AWS::AccountId}:table/${tableName}`;
  if (arn === table) return TABLE;
  return arn.startsWith(`${table}/index/`) ? arn.slice(`${table}/index/`.length) : arn;
}

function logGroupOf(template: Template, name: string): string {
  const [, properties] = functionsOf(template).find(([entryPoint]) => entryPoint === name) ?? [];
  const groups = resourcesOf(template, 'AWS::Logs::LogGroup');
  const own = groups.find(
    ([, { Properties }]) => Properties.LogGroupName === `/aws/lambda/${properties?.FunctionName}`,
  );
  if (!own) throw new Error(`${name} has no log group`);
  return own[0];
}
