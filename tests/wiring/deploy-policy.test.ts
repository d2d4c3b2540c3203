// What docs/deploy-policy.json allows of data and roles, and its conditions, which the emulator of tests/deployed ignores.
import { describe, expect, it } from 'vitest';
import policy from '../../docs/deploy-policy.json' with { type: 'json' };
import { createGuard } from '../support/deploy-guard.ts';
import { readTemplate, resourcesOf } from '../support/packaged-template.ts';

interface Statement {
  readonly Action: string | readonly string[];
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  iam: [
    'iam:AttachRolePolicy',
    'iam:CreateRole',
    'iam:DeleteRole',
    'iam:DeleteRolePolicy',
    'iam:DetachRolePolicy',
    'iam:GetRole',
    'iam:GetRolePolicy',
    'iam:ListAttachedRolePolicies',
    'iam:ListRolePolicies',
    'iam:PassRole',
    'iam:PutRolePolicy',
    'iam:TagRole',
    'iam:UntagRole',
    'iam:UpdateAssumeRolePolicy',
  ],
  dynamodb: [
    'dynamodb:CreateTable',
    'dynamodb:DeleteTable',
    'dynamodb:DescribeContinuousBackups',
    'dynamodb:DescribeTable',
    'dynamodb:DescribeTimeToLive',
    'dynamodb:GetItem',
    'dynamodb:ListTagsOfResource',
    'dynamodb:Scan',
    'dynamodb:TagResource',
    'dynamodb:UntagResource',
    'dynamodb:UpdateContinuousBackups',
    'dynamodb:UpdateTable',
    'dynamodb:UpdateTimeToLive',
  ],
};

const allowed = (policy.Statement as readonly Statement[]).flatMap(({ Action, Condition }) =>
  [Action].flat().map((action) => ({ action, condition: Condition })),
);

/** Conditions of every statement that allows the action. The lists above have no wildcard. */
function conditionsOf(wanted: string) {
  return allowed.filter(({ action }) => action === wanted).map(({ condition }) => condition);
}

it.each(Object.entries(ACTIONS))('the actions of %s are these', (service, actions) => {
  const named = allowed
    .map(({ action }) => action)
    .filter((name) => name.startsWith(`${service}:`));
  expect(named.toSorted()).toEqual(actions);
});

it('every statement names what it allows, and every action its service', () => {
  for (const statement of policy.Statement) {
    expect(statement).toMatchObject({ Effect: 'Allow', Action: expect.anything() });
  }
  for (const { action } of allowed) expect(action).toMatch(/^[a-z0-9]+:[A-Za-z]*\*?$/);
});

it.each(['iam:AttachRolePolicy', 'iam:DetachRolePolicy'])(
  '%s is allowed for the managed policies of the template alone',
  (action) => {
    const attached = resourcesOf(readTemplate('migrating'), 'AWS::IAM::Role')
      .flatMap(([, { Properties }]) => Properties.ManagedPolicyArns as { 'Fn::Sub': string }[])
      .map((arn) => arn['Fn::Sub'].replace(`\${AWS::Partition}`, 'aws'));
    expect(conditionsOf(action)).toEqual([
      { ArnEquals: { 'iam:PolicyARN': [...new Set(attached)] } },
    ]);
  },
);

it('roles are passed to the services of the template alone', () => {
  expect(conditionsOf('iam:PassRole')).toEqual([
    { StringEquals: { 'iam:PassedToService': ['lambda.amazonaws.com', 'states.amazonaws.com'] } },
  ]);
});

describe('of the data in a table', () => {
  it('only the records of migrations are read', () => {
    expect(conditionsOf('dynamodb:GetItem')).toEqual([
      { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['@migration', '@migration#*'] } },
    ]);
  });

  it('a scan only counts, as that of discard-table does', async () => {
    const [condition, ...others] = conditionsOf('dynamodb:Scan');
    expect([condition, others]).toEqual([
      { StringEquals: { 'dynamodb:Select': expect.any(String) } },
      [],
    ]);
    const scan = await scanOfDiscardTable();
    expect(scan.Select).toBe(condition?.StringEquals?.['dynamodb:Select']);
    expect(scan.Select).toBe('COUNT');
  });
});

/** What the guard sends for a table with data of a stack that does not exist. */
async function scanOfDiscardTable() {
  let scan = '';
  const guard = createGuard({
    answer({ headers, body = [] }) {
      if (!headers['x-amz-target']?.endsWith('.Scan')) {
        const error = '<Code>ValidationError</Code><Message>Stack does not exist</Message>';
        return [400, `<ErrorResponse><Error>${error}</Error></ErrorResponse>`];
      }
      scan = Buffer.from(body).toString();
      return [200, JSON.stringify({ Count: 1 })];
    },
  });
  await expect(guard.hooks['discard-table:discard']()).rejects.toThrow('left over, with data');
  return JSON.parse(scan);
}
