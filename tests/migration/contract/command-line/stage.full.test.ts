// The command line on a deployed stage: responses that come from AWS itself, not from the functions.
import { describe, expect, it } from 'vitest';
import { readStatus } from '../../../../lib/migration/steps/status.ts';
import { createOperator, RUN_OPTION, runMigrate } from '../../support/command-line.ts';
import { createFunctionError, createRefusal, type Fault } from '../../support/lambda-double.ts';

const PREFLIGHT = 'finance-ledger-dev-migrationPreflight';

async function runPreflightWithFault(fault: Fault) {
  const { migrate, startRun, lambda, readRun } = await createOperator('on a stage');
  await startRun();
  lambda.failNext(PREFLIGHT, fault);
  const ended = await migrate('preflight', ...RUN_OPTION);
  expect((await readRun()).phase).toBe('checked');
  return ended;
}

describe('a function of a stage', () => {
  it.each<[what: string, fault: Fault, reported: RegExp]>([
    [
      'reaches its time limit',
      createFunctionError({
        errorType: 'Sandbox.Timedout',
        errorMessage: 'Task timed out after 900 s',
      }),
      /^RetryableUnavailable: .*migrationPreflight reached its time limit.*repeat the same command/,
    ],
    [
      'reaches its time limit, without an error type',
      createFunctionError({
        errorMessage: '2026-03-01T09:00:00Z a-b-c Task timed out after 900.00 s',
      }),
      /^RetryableUnavailable: .*reached its time limit/,
    ],
    [
      'fails with an error',
      createFunctionError({ errorType: 'TypeError', errorMessage: 'x is not a function' }),
      /^FunctionFailedError: .*\(TypeError: x is not a function\).*\/aws\/lambda\/finance-ledger-dev-migrationPreflight/,
    ],
    [
      'fails without a reason',
      createFunctionError({}),
      /^FunctionFailedError: .*no reason given.*see its log/,
    ],
    [
      'is invoked too often',
      createRefusal(429, 'TooManyRequestsException', 'Rate Exceeded.'),
      /^RetryableUnavailable: .*TooManyRequestsException/,
    ],
    [
      'is unavailable',
      createRefusal(500, 'ServiceException', 'Service error.'),
      /^RetryableUnavailable: .*ServiceException/,
    ],
  ])('that %s ends the command with exit code 1', async (_, fault, reported) => {
    const { code, stdout, stderr } = await runPreflightWithFault(fault);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(reported)]);
  });

  it('whose response is lost is not invoked again, because the step may still be running', async () => {
    const { migrate, startRun, lambda } = await createOperator('on a stage');
    await startRun();
    lambda.failNext(PREFLIGHT, 'no response');
    const { code, stderr } = await migrate('preflight', ...RUN_OPTION);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/may still be running/)]);
    expect(lambda.invoked.filter((name) => name === PREFLIGHT)).toHaveLength(1);
  });

  it('that the caller may not invoke is named in the refusal', async () => {
    const denial = 'User: ada is not authorized to perform: lambda:InvokeFunction';
    const { code, stderr } = await runPreflightWithFault(
      createRefusal(403, 'AccessDeniedException', denial),
    );
    expect([code, stderr]).toEqual([3, expect.stringMatching(/^RefusedCredentials: .*ada is not/)]);
  });

  it.each([
    ['phase', { phase: 'dreaming' }],
    ['command', { moves: [{ command: 'dance', by: ['operator'], to: 'live' }] }],
    ['format', { moves: undefined }],
  ])('of another version, with an unknown %s, is reported as such', async (_, change) => {
    const { migrate, startRun, services, lambda } = await createOperator('on a stage');
    await startRun();
    const status = { ...(await readStatus(services)), ...change };
    lambda.failNext('finance-ledger-dev-migrationStatus', { status: 200, body: status });
    const { code, stderr } = await migrate('status');
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^FunctionFailedError: The functions of dev .* different versions/),
    ]);
  });

  it('that does not exist is named, with the stage to check', async () => {
    const { commandEnvironment } = await createOperator('on a stage');
    const { code, stderr } = await runMigrate(commandEnvironment, 'status', '--stage', 'test');
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(
        /^RefusedSetting: .* finance-ledger-test-migrationStatus in this stage\./,
      ),
    ]);
  });
});

describe('access to AWS', () => {
  const access = { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' };
  const noServer = { AWS_ENDPOINT_URL_LAMBDA: 'http://127.0.0.1:9' };

  it.each([
    ['region', access, 3, /^RefusedSetting: AWS_REGION is not set/],
    ['credentials', { AWS_REGION: 'eu-west-1' }, 3, /^RefusedCredentials: AWS does not know/],
    [
      'server that answers',
      { ...access, ...noServer, AWS_REGION: 'eu-west-1' },
      1,
      /^RetryableUnavailable: No answer/,
    ],
  ])('fails with one line if there is no %s', async (_, environment, exitCode, reported) => {
    const { code, stderr } = await runMigrate(environment, 'status', '--stage', 'dev');
    expect([code, stderr]).toEqual([exitCode, expect.stringMatching(reported)]);
  });
});
