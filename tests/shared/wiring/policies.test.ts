// Actions that the policies in docs/ allow the roles of docs/ledger/deploy.md, and conditions of the policies that the
// emulator of tests/shared/deployed ignores. `npm run lint:template` compares the actions with AWS's own lists.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROLE_COMMANDS, updateRoleCommands } from '../../../cli/describe/role-commands.ts';
import { POLICIES, type PolicyName, policyFile } from '../../../local/emulator/policies.ts';
import { createGuard } from '../support/deploy-guard.ts';
import { listStatements, type RoleProperties, type Statement } from '../support/granted-access.ts';
import { listResources, readTemplate } from '../support/packaged-template.ts';

// Characters of a managed policy, without white space (IAM and AWS STS quotas).
const MAX_POLICY_LENGTH = 6144;
const BOUNDARY = 'policy/finance-ledger-boundary';
const ONLY_RUN_RECORDS = {
  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['@migration', '@migration#*'] },
};
const DOCUMENT = readFileSync(join(import.meta.dirname, '../../../docs/ledger/deploy.md'), 'utf8');

const statements = Object.fromEntries(
  POLICIES.map((name) => [name, JSON.parse(readFileSync(policyFile(name), 'utf8')).Statement]),
) as Readonly<Record<PolicyName, readonly Statement[]>>;

/** Lists the statements that allow the action on any resource; empty if another statement denies it. */
function findAllowing(name: PolicyName, action: string): Statement[] {
  const matching = statements[name].filter(({ Action }) =>
    [Action].flat().some((pattern) => matches(action, pattern)),
  );
  return matching.some(({ Effect }) => Effect === 'Deny') ? [] : matching;
}

function matches(action: string, pattern: string): boolean {
  return new RegExp(`^${pattern.replaceAll('*', '.*')}$`, 'i').test(action);
}

function listAllowedRoles(action: string): PolicyName[] {
  return POLICIES.filter((name) => findAllowing(name, action).length > 0);
}

function listConditions(name: PolicyName, action: string) {
  return findAllowing(name, action).map(({ Condition }) => Condition);
}

it.each(POLICIES)('AWS accepts the policy %s', (name) => {
  expect(
    JSON.stringify({ Version: '2012-10-17', Statement: statements[name] }).length,
  ).toBeLessThan(MAX_POLICY_LENGTH);
});

it.each<[action: string, roles: PolicyName[]]>([
  ['dynamodb:DeleteTable', ['removal']],
  ['cloudformation:DeleteStack', ['removal']],
  ['dynamodb:DeleteBackup', []],
  ['backup:DeleteRecoveryPoint', []],
  ['backup:UpdateRecoveryPointLifecycle', []],
  ['backup:DeleteBackupVault', []],
  ['backup:DeleteBackupVaultLockConfiguration', []],
  ['backup:PutBackupVaultAccessPolicy', []],
  ['backup:UpdateBackupPlan', ['deploy']],
  ['dynamodb:UpdateTable', ['deploy', 'operator', 'removal']],
  ['dynamodb:Query', ['operator', 'boundary']],
  ['dynamodb:PutItem', ['operator', 'boundary']],
  ['iam:CreateRole', ['deploy']],
  ['iam:DeleteRolePermissionsBoundary', []],
  ['iam:CreatePolicyVersion', []],
  ['iam:AttachRolePolicy', []],
  ['sts:AssumeRole', []],
  ['secretsmanager:GetSecretValue', ['boundary']],
])('%s is allowed only to %j', (action, roles) => {
  expect(listAllowedRoles(action)).toEqual(roles);
});

describe('the deployer', () => {
  it.each(['iam:CreateRole', 'iam:PutRolePolicy', 'iam:PutRolePermissionsBoundary'])(
    'may call %s only for roles within the boundary',
    (action) => {
      const isWithinBoundary = {
        ArnLike: { 'iam:PermissionsBoundary': `arn:aws:iam::*:${BOUNDARY}` },
      };
      expect(listConditions('deploy', action)).toEqual([isWithinBoundary]);
    },
  );

  it('passes roles only to the services of the template', () => {
    const services = listResources<RoleProperties>(readTemplate('migrating'), 'AWS::IAM::Role').map(
      ([, { Properties }]) => JSON.stringify(Properties.AssumeRolePolicyDocument),
    );
    const [condition] = listConditions('deploy', 'iam:PassRole') as {
      StringEquals: { 'iam:PassedToService': string[] };
    }[];
    const passed = condition?.StringEquals['iam:PassedToService'] ?? [];
    expect(passed.filter((name) => !services.some((text) => text.includes(name)))).toEqual([]);
    expect(services.filter((text) => !passed.some((name) => text.includes(name)))).toEqual([]);
  });
});

describe.each(['deploy', 'removal'] as const)('the policy for %s', (name) => {
  it('allows reads only of the records of migrations', () => {
    expect(listConditions(name, 'dynamodb:GetItem')).toEqual([ONLY_RUN_RECORDS]);
  });

  it('allows only scans that count, such as the scan of discard-table', async () => {
    const { Select } = await recordScan();
    expect(Select).toBe('COUNT');
    expect(listConditions(name, 'dynamodb:Scan')).toEqual([
      { StringEquals: { 'dynamodb:Select': Select } },
    ]);
  });
});

describe('the boundary', () => {
  const roles = listResources<RoleProperties>(readTemplate('migrating'), 'AWS::IAM::Role');

  it('applies to every role', () => {
    for (const [, { Properties }] of roles) {
      expect(Properties.ManagedPolicyArns).toBeUndefined();
      expect(Properties.PermissionsBoundary).toEqual({
        'Fn::Sub': `arn:\${AWS::Partition}:iam::\${AWS::AccountId}:${BOUNDARY}`,
      });
    }
  });

  it('allows only what some role needs', () => {
    const granted = new Set(
      roles.flatMap(([, { Properties }]) =>
        listStatements(Properties).flatMap((each) => each.Action),
      ),
    );
    const allowed = statements.boundary.flatMap(({ Action }) => Action);
    expect([...granted].toSorted()).toEqual([...new Set(allowed)].toSorted());
  });
});

describe('commands of the guide', () => {
  it.each(ROLE_COMMANDS)(
    'include $command, which is allowed to the role $role',
    ({ action, role }) => {
      expect(listAllowedRoles(action)).toContain(role);
    },
  );

  it('are all shown in docs/ledger/deploy.md, which `npm run describe` updates', () => {
    for (const { command } of ROLE_COMMANDS)
      expect(updateRoleCommands(DOCUMENT)).toContain(command);
    expect(updateRoleCommands(DOCUMENT)).toBe(DOCUMENT);
  });
});

/** Returns the scan with which the guard checks whether a table without a stack has data. */
async function recordScan() {
  let scan = '';
  const guard = createGuard({
    respond({ headers, body = [] }) {
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
