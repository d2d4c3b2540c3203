// The state machine of the migration in the Amazon States Language: the same one is deployed, tested and rehearsed.
import type { Command, Phase } from '../../lib/migration/phases.ts';
import { FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS } from '../../lib/migration/runs/times.ts';

export interface StateMachineDefinition {
  readonly Comment: string;
  readonly StartAt: string;
  readonly States: Readonly<Record<string, State>>;
}

interface State {
  readonly Type: 'Task' | 'Choice' | 'Wait' | 'Succeed' | 'Fail';
  readonly Resource?: string;
  readonly TimeoutSeconds?: number;
  readonly Seconds?: number;
  readonly Retry?: readonly Retrier[];
  readonly Catch?: readonly Catcher[];
  readonly [other: string]: unknown;
}

export interface Retrier {
  readonly ErrorEquals: readonly string[];
  readonly IntervalSeconds: number;
  readonly MaxAttempts: number;
  readonly BackoffRate: number;
  readonly MaxDelaySeconds?: number;
  readonly JitterStrategy?: 'FULL' | 'NONE';
}

interface Catcher {
  readonly ErrorEquals: readonly string[];
  readonly ResultPath: string;
  readonly Next: string;
}

const RETRY: readonly Retrier[] = [
  {
    ErrorEquals: [
      'RetryableUnavailable',
      'Sandbox.Timedout',
      'Lambda.Unknown',
      'Lambda.ServiceException',
      'Lambda.AWSLambdaException',
      'Lambda.SdkClientException',
      'Lambda.TooManyRequestsException',
      'Lambda.ClientExecutionTimeoutException',
    ],
    IntervalSeconds: FIRST_RETRY_SECONDS,
    MaxAttempts: 7,
    BackoffRate: 2,
    MaxDelaySeconds: MAX_RETRY_SECONDS,
    JitterStrategy: 'FULL',
  },
  { ErrorEquals: ['RetryableLockHeld'], IntervalSeconds: 15, MaxAttempts: 72, BackoffRate: 1 },
];

// The state that runs each command. Only an operator opens a window, so the machine waits before that.
const STATE_BY_COMMAND = {
  backup: 'Backup',
  rebuild: 'Rebuild',
  copy: 'Copy',
  cutover: 'Cutover',
  rollback: 'RollBack',
} as const satisfies Partial<Record<Command, string>>;

// The final state for the phase of a run without a next command. A run that was rolled back may have no further window.
const FINAL_STATE_BY_PHASE = {
  live: 'Live',
  closed: 'Live',
  aborted: 'Aborted',
  copied: 'RolledBack',
} as const satisfies Partial<Record<Phase, string>>;

function createChoices(variable: string, states: Readonly<Record<string, string>>) {
  return Object.entries(states).map(([value, Next]) => ({
    Variable: `$.status.${variable}`,
    StringEquals: value,
    Next,
  }));
}

export function migrationMachine(stage: string): StateMachineDefinition {
  const createTask = (name: string, Comment: string): State => ({
    Type: 'Task',
    Comment,
    Resource: `arn:#{AWS::Partition}:lambda:#{AWS::Region}:#{AWS::AccountId}:function:finance-ledger-${stage}-migration${name}`,
    Retry: RETRY,
  });
  const createStep = (name: string, Comment: string): State => ({
    ...createTask(name, Comment),
    Parameters: { 'runId.$': '$.runId', execute: true, actor: 'machine' },
    ResultPath: '$.step',
    TimeoutSeconds: 960,
    Next: 'Pause',
  });
  return {
    Comment:
      'Migrates the memory backend. It reads the status of the run, takes the next step, and repeats this until the run ends: started again, it resumes. If the window fails, the run is rolled back.',
    StartAt: 'ReadStatus',
    States: {
      ReadStatus: {
        ...createTask(
          'Status',
          'Reads the record of the run, which is small: large data is in artifacts.',
        ),
        Parameters: { 'runId.$': '$.runId' },
        ResultPath: '$.status',
        TimeoutSeconds: 90,
        Next: 'Choose',
      },
      Choose: {
        Type: 'Choice',
        Choices: [
          { Not: { Variable: '$.status.approval', IsNull: true }, Next: 'AwaitApproval' },
          ...createChoices('next', STATE_BY_COMMAND),
          ...createChoices('phase', FINAL_STATE_BY_PHASE),
        ],
        Default: 'UnknownPhase',
      },
      AwaitApproval: {
        Type: 'Wait',
        Comment:
          'An operator reads the report, and opens the window with cutover or aborts the run. The status is read rarely, so that the history of the execution has room for a year, its maximum duration.',
        Seconds: 43_200,
        Next: 'ReadStatus',
      },
      Backup: createStep(
        'Backup',
        'Counts, takes a snapshot and rehearses a restore, before anything is built.',
      ),
      Rebuild: createStep(
        'Rebuild',
        "Builds the new collection, and verifies it with the new version's first write if that version can be reached.",
      ),
      Copy: createStep(
        'Copy',
        'Copies everything while users continue to write; an operator must then approve the report.',
      ),
      Cutover: {
        ...createStep(
          'Cutover',
          'The window: stops writes, switches to the new version, verifies it, and opens writes. A refusal begins the rollback.',
        ),
        // A function that never returns cannot begin the rollback itself.
        Catch: [{ ErrorEquals: ['States.ALL'], ResultPath: '$.failure', Next: 'RollBack' }],
      },
      RollBack: {
        ...createStep(
          'Rollback',
          "Loses no user's write. If it would remove too many memories, an operator decides.",
        ),
        // Users may be on the new version already: until the window ends, the cutover is repeated.
        Catch: [{ ErrorEquals: ['RefusedNotNow'], ResultPath: '$.failure', Next: 'AwaitPerson' }],
      },
      Pause: {
        Type: 'Choice',
        Comment: 'The step says what comes after it, and how long to wait before.',
        Choices: [
          { Variable: '$.step.hasReturned', BooleanEquals: true, Next: 'RolledBack' },
          { Variable: '$.step.needsPerson', BooleanEquals: true, Next: 'AwaitPerson' },
          { Variable: '$.step.waitSeconds', NumericGreaterThan: 0, Next: 'Wait' },
        ],
        Default: 'ReadStatus',
      },
      AwaitPerson: {
        Type: 'Wait',
        Comment:
          'Waits until an action is confirmed. Its interval is longer than that for a service, so that the history of the execution has room for a window of four hours.',
        Seconds: 30,
        Next: 'ReadStatus',
      },
      Wait: { Type: 'Wait', SecondsPath: '$.step.waitSeconds', Next: 'ReadStatus' },
      Live: { Type: 'Succeed' },
      RolledBack: {
        Type: 'Fail',
        Error: 'RolledBack',
        Cause:
          'The run was rolled back: users are on the old version. The record and the failed step say why. Start it again to prepare the next window.',
      },
      Aborted: {
        Type: 'Fail',
        Error: 'Aborted',
        Cause: 'The run was aborted before the window.',
      },
      UnknownPhase: {
        Type: 'Fail',
        Error: 'UnknownPhase',
        Cause: 'The run is in a phase that this definition does not know.',
      },
    },
  };
}
