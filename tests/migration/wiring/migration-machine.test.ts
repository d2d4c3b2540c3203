// The deployed state machine equals the definition that the tests execute, and every function that it names is deployed.
import { describe, expect, it } from 'vitest';
import { REMEDIES, RETRYABLE_FAILURES } from '../../../lib/migration/refusals.ts';
import {
  migrationMachine,
  type StateMachineDefinition,
} from '../../../serverless/migration/machine.ts';
import {
  type FunctionProperties,
  getOnlyResource,
  listResources,
  readTemplate,
} from '../../shared/support/packaged-template.ts';

// Errors that AWS lists as transient when Lambda is invoked (Step Functions guide, "Handle Lambda service exceptions"), and
// a timeout of the function as Node's runtime names it
const TRANSIENT_ERRORS = [
  ...['ClientExecutionTimeoutException', 'ServiceException', 'AWSLambdaException'],
  ...['SdkClientException', 'Unknown', 'TooManyRequestsException'],
].map((name) => `Lambda.${name}`);
const PLATFORM_ERRORS = [...TRANSIENT_ERRORS, 'Sandbox.Timedout', 'States.ALL'];

interface MachineProperties {
  readonly DefinitionString: { readonly 'Fn::Sub': string };
}

describe('the state machine', () => {
  const template = readTemplate('migrating');
  const machine = getOnlyResource<MachineProperties>(template, 'AWS::StepFunctions::StateMachine');
  const definition = machine.Properties.DefinitionString['Fn::Sub'];
  const { States } = JSON.parse(definition) as StateMachineDefinition;
  const tasks = Object.entries(States).filter(([, { Type }]) => Type === 'Task');

  it('is the one that tests and rehearsals execute, with region and account inserted', () => {
    const executed = JSON.stringify(migrationMachine('prod')).replaceAll('#{', `\${`);
    expect(JSON.parse(definition)).toEqual(JSON.parse(executed));
  });

  it.each(tasks)('%s invokes a deployed function, and waits longer than it can run', (_, task) => {
    const [arn, name] = task.Resource?.split(':function:') ?? [];
    expect(arn).toBe(`arn:\${AWS::Partition}:lambda:\${AWS::Region}:\${AWS::AccountId}`);
    const functions = listResources<FunctionProperties>(template, 'AWS::Lambda::Function');
    const found = functions.filter(([, { Properties }]) => Properties.FunctionName === name);
    expect(found).toHaveLength(1);
    const [[, { Properties }] = ['', { Properties: { Timeout: undefined } }]] = found;
    expect(task.TimeoutSeconds).toBeGreaterThan(Number(Properties.Timeout));
  });

  it.each(tasks)('%s retries every transient error of Lambda', (_, { Retry = [] }) => {
    const retried = Retry.flatMap(({ ErrorEquals }) => ErrorEquals);
    expect(retried).toEqual(expect.arrayContaining(TRANSIENT_ERRORS));
  });

  it.each(tasks)('%s names only failures that exist', (_, { Retry = [], Catch = [] }) => {
    const knownErrors = [...PLATFORM_ERRORS, ...RETRYABLE_FAILURES, ...Object.keys(REMEDIES)];
    const handledErrors = [...Retry, ...Catch].flatMap(({ ErrorEquals }) => ErrorEquals);
    expect(handledErrors.filter((name) => !knownErrors.includes(name))).toEqual([]);
  });
});
