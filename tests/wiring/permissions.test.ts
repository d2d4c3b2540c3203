// Each function has a role of its own that can do what its endpoint does, and nothing else.
import { describe, expect, it } from 'vitest';
import {
  API_KEYS,
  logGroupOf,
  roleOf,
  statementsOf,
  TABLE,
  type TableAccess,
  tableAccess,
} from '../support/granted-access.ts';
import {
  apiFunctionsOf,
  functionsOf,
  readTemplate,
  resourcesOf,
  STAGES,
} from '../support/packaged-template.ts';

const INDEXES = ['all', 'type', 'category', 'category-type'].map((facet) => `${facet}-by-date`);

const LEDGER_ACCESS: Record<string, TableAccess> = {
  'transactions/list': { GetItem: [TABLE], Query: [TABLE, ...INDEXES] },
  'transactions/create': { GetItem: [TABLE], PutItem: [TABLE], UpdateItem: [TABLE] },
  'transactions/bulk': { GetItem: [TABLE], PutItem: [TABLE], UpdateItem: [TABLE] },
  'transactions/read': { GetItem: [TABLE] },
  'transactions/update': {
    DeleteItem: [TABLE],
    GetItem: [TABLE],
    PutItem: [TABLE],
    UpdateItem: [TABLE],
  },
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
  'summary/read': { GetItem: [TABLE], Query: [TABLE] },
  'api/openapi': {},
  'api/docs': {},
  'api/preflight': {},
  'api/not-found': {},
};
/** Every function that reaches a ledger also looks up API keys. */
const EXPECTED_ACCESS = Object.fromEntries(
  Object.entries(LEDGER_ACCESS).map(([name, access]) => [name, withApiKeys(access)]),
);
EXPECTED_ACCESS['api/health'] = { GetItem: ['HEALTH'] };
const READERS = [
  ...['transactions/list', 'transactions/read', 'summary/read'],
  ...['categories/list', 'categories/read'],
];

function withApiKeys(access: TableAccess): TableAccess {
  if (Object.keys(access).length === 0) return access;
  return {
    ...access,
    GetItem: [...(access.GetItem ?? []), API_KEYS],
    UpdateItem: [...(access.UpdateItem ?? []), API_KEYS],
  };
}

describe.each(STAGES)('roles of stage %s', (stage) => {
  const template = readTemplate(stage);

  it('are stated for each function behind the gateway', () => {
    const names = apiFunctionsOf(template).map(([name]) => name);
    expect(names.sort()).toEqual(Object.keys(EXPECTED_ACCESS).sort());
  });

  it('belong to one function or state machine each, and every one has its own', () => {
    const machines = resourcesOf<{ RoleArn: unknown }>(
      template,
      'AWS::StepFunctions::StateMachine',
    ).map(([, { Properties }]) => Properties.RoleArn);
    const used = [...functionsOf(template).map(([, { Role }]) => Role), ...machines];
    const roles = resourcesOf(template, 'AWS::IAM::Role').map(([name]) => ({
      'Fn::GetAtt': [name, 'Arn'],
    }));
    expect(roles).toEqual(expect.arrayContaining(used));
    expect(used).toEqual(expect.arrayContaining(roles));
    expect(used).toHaveLength(roles.length);
  });

  it.each(Object.entries(EXPECTED_ACCESS))('%s reaches of the table just this', (name, access) => {
    expect(tableAccess(template, name)).toEqual(access);
  });

  it.each(READERS)('%s cannot write', (name) => {
    const writes = Object.entries(tableAccess(template, name)).filter(
      ([action]) => !['GetItem', 'Query'].includes(action),
    );
    // The day on which a key was last used.
    expect(writes).toEqual([['UpdateItem', [API_KEYS]]]);
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
    const statements = statementsOf(role).map(({ Action, Resource }) => ({ Action, Resource }));
    expect(JSON.stringify(statements)).not.toMatch(/\*|Scan/);
    expect(role.ManagedPolicyArns).toEqual([
      { 'Fn::Sub': expect.stringMatching(/:policy\/AWSXRayDaemonWriteAccess$/) },
    ]);
  });

  it.each(Object.keys(EXPECTED_ACCESS))('%s cannot touch the records of migrations', (name) => {
    const onTable = statementsOf(roleOf(template, name)).filter(({ Action }) =>
      Action.some((action) => action.startsWith('dynamodb:')),
    );
    for (const { Condition = {} } of onTable) {
      const [[kind, condition] = ['', {}]] = Object.entries(Condition);
      const { 'dynamodb:LeadingKeys': keys = [] } = condition;
      if (kind === 'ForAllValues:StringEquals')
        expect(['@API_KEYS', 'HEALTH']).toContain(keys.join());
      else expect([kind, keys]).toEqual(['ForAllValues:StringNotLike', ['@*']]);
    }
  });

  it.each(Object.keys(EXPECTED_ACCESS))('%s is granted tables and logs only', (name) => {
    const services = statementsOf(roleOf(template, name)).flatMap(({ Effect, Action }) => {
      expect(Effect).toBe('Allow');
      return Action.map((action) => action.replace(/:.*/, ''));
    });
    expect(['dynamodb', 'logs']).toEqual(expect.arrayContaining([...new Set(services)]));
  });
});
