// The conditions of docs/deploy-policy.json, which the emulator of tests/deployed ignores.
import { describe, expect, it } from 'vitest';
import policy from '../../docs/deploy-policy.json' with { type: 'json' };
import { createGuard } from '../support/deploy-guard.ts';
import { readTemplate, resourcesOf } from '../support/packaged-template.ts';

interface Statement {
  readonly Action: readonly string[];
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Conditions of every statement that allows the action, also by a wildcard. */
function conditionsOf(action: string) {
  const [service] = action.split(':');
  return (policy.Statement as readonly Statement[])
    .filter(({ Action }) => Action.includes(action) || Action.includes(`${service}:*`))
    .map(({ Condition }) => Condition);
}

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
    for (const action of ['Query', 'BatchGetItem', 'PartiQLSelect', 'ExportTableToPointInTime']) {
      expect(conditionsOf(`dynamodb:${action}`)).toEqual([]);
    }
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
