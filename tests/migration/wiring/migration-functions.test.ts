// Functions of the migration: the command line finds them, and only the operator, the state machine and the watchdog's
// schedules may invoke them. tests/shared/wiring/approved/migrating.yml records their variables and limits.
import { expect, it } from 'vitest';
import { FUNCTIONS, type FunctionName } from '../../../cli/migration/migrate/commands.ts';
import { nameDeployedFunction } from '../../../cli/migration/migrate/stage-invoker.ts';
import {
  listMigrationFunctions,
  listResources,
  readTemplate,
} from '../../shared/support/packaged-template.ts';

const template = readTemplate('migrating');
const functions = listMigrationFunctions(template);

it.each(Object.keys(FUNCTIONS) as FunctionName[])(
  'the command line finds the function %s',
  (file) => {
    const name = nameDeployedFunction(file, 'prod');
    const found = functions.filter(([, { FunctionName }]) => FunctionName === name);
    expect(found.map(([entry]) => entry)).toEqual([`migration/${file}`]);
  },
);

it('only the schedules of the watchdog may invoke a function from outside', () => {
  const rules = listResources(template, 'AWS::Events::Rule').filter(([id]) =>
    id.startsWith('Watchdog'),
  );
  const permissions = listResources(template, 'AWS::Lambda::Permission')
    .map(([, { Properties }]) => Properties)
    .filter((properties) => /"Migration\w+LambdaFunction"/.test(JSON.stringify(properties)));
  expect(listResources(template, 'AWS::Lambda::Url')).toEqual([]);
  expect(permissions).toEqual(
    rules.map(([rule]) => ({
      Action: 'lambda:InvokeFunction',
      FunctionName: { 'Fn::GetAtt': ['MigrationRetentionLambdaFunction', 'Arn'] },
      Principal: 'events.amazonaws.com',
      SourceArn: { 'Fn::GetAtt': [rule, 'Arn'] },
    })),
  );
});
