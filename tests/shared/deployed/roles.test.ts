// Calls that the policies' conditions and resources refuse, which tests/shared/wiring/policies.test.ts cannot check. All other tests of
// this folder act in the roles of docs/ledger/deploy.md, each with exactly the policies of its role.
import { CreateRoleCommand, IAMClient, PutRolePolicyCommand } from '@aws-sdk/client-iam';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { expect, inject, test } from 'vitest';
import { clientOptions, stackName } from '../../../local/emulator/emulated-stage.ts';

const deployed = inject('deployed');
const createOptions = (name: 'deployer' | 'operator') => clientOptions(inject(name).environment);
const StackName = stackName(deployed.stage);
const RoleName = `${StackName}-any`;
const emptyPolicy = { Version: '2012-10-17', Statement: [] };
const AssumeRolePolicyDocument = JSON.stringify(emptyPolicy);

const REFUSED_CALLS: Readonly<Record<string, () => Promise<unknown>>> = {
  'the deployer cannot create a role without the boundary': () =>
    new IAMClient(createOptions('deployer')).send(
      new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument }),
    ),
  'the deployer cannot change a role with another name': () =>
    new IAMClient(createOptions('deployer')).send(
      new PutRolePolicyCommand({
        RoleName: 'ledger-operator',
        PolicyName: 'more',
        PolicyDocument: AssumeRolePolicyDocument,
      }),
    ),
  'the operator cannot invoke a function of the API': () =>
    new LambdaClient(createOptions('operator')).send(
      new InvokeCommand({ FunctionName: `${StackName}-transactionsList` }),
    ),
};

test.each(Object.entries(REFUSED_CALLS))('%s', async (_, call) => {
  await expect(call()).rejects.toThrow(/not authorized|AccessDenied/);
});

test('every role of the stage acts within the boundary', () => {
  expect(inject('boundedRoles')).toBeGreaterThan(20);
});
