// The command line as an operator uses it: each command is a process, which works on the sandbox directly or through a stage.
import { expect, onTestFinished } from 'vitest';
import { manualHooks } from '../../../lib/migration/adapters/webhook.ts';
import { createRunRecords } from '../../../lib/migration/runs/run-store.ts';
import { runPreflight } from '../../../lib/migration/steps/preflight.ts';
import { startWebhook } from '../../../sandbox/webhook.ts';
import { startSandboxWorld } from '../../../sandbox/world.ts';
import { type CommandResult, startCommand } from '../../shared/support/command.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { startLambdaDouble } from './lambda-double.ts';
import { RUN } from './run-table.ts';

export const COMMAND = 'cli/migration/migrate/migrate.ts';
const STAGE = 'dev';

export const RUN_OPTION = ['--run', RUN];

/** Places where the functions run */
export const PLACES = ['here', 'on a stage'] as const;
type PlaceName = (typeof PLACES)[number];

/** Keeps the SDK from finding an AWS account on this machine. */
export const NO_ACCOUNT = { HOME: '/nonexistent', AWS_EC2_METADATA_DISABLED: 'true' };

export async function runMigrate(
  environment: NodeJS.ProcessEnv,
  ...args: string[]
): Promise<CommandResult> {
  return await startMigrateWith(environment, ...args).ended;
}

/** Starts the command for a caller that listens to it while it runs. */
export function startMigrateWith(environment: NodeJS.ProcessEnv, ...args: string[]) {
  return startCommand(COMMAND, args, { ...NO_ACCOUNT, ...environment });
}

const ACCESS = {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
};

interface OperatorOptions {
  /** True if a webhook performs the actions; by default a person does. */
  readonly hasWebhook?: boolean;
}

/** Creates an operator with a world to migrate, which is closed at the end of the test. */
export async function createOperator(
  place: PlaceName = 'here',
  { hasWebhook = false }: OperatorOptions = {},
) {
  const { client, tableName, endpoint } = await createTestTable();
  const now = () => new Date();
  const records = createRunRecords({ client, tableName, clock: now });
  const world = await startSandboxWorld({ runId: RUN, records, hasGraph: false });
  onTestFinished(world.close);
  const hooks = hasWebhook ? world.operator.hooks : manualHooks;
  const lambda = await startLambdaDouble(STAGE, { ...world.services, hooks });
  onTestFinished(lambda.close);
  const webhook = await startWebhook(hooks);
  onTestFinished(webhook.close);
  const environments = {
    here: {
      ...world.environment,
      TABLE_NAME: tableName,
      DYNAMODB_ENDPOINT: endpoint,
      ...(hasWebhook ? { MIGRATION_WEBHOOK_URL: webhook.url } : {}),
    },
    'on a stage': { ...ACCESS, AWS_ENDPOINT_URL_LAMBDA: lambda.url },
  };
  const commandEnvironment: NodeJS.ProcessEnv = environments[place];
  const stageArgs = place === 'here' ? [] : ['--stage', STAGE];

  const startMigrate = (...args: string[]) =>
    startMigrateWith(commandEnvironment, ...args, ...stageArgs);
  const migrate = (...args: string[]) => startMigrate(...args).ended;

  /** Runs a command that the operator expects to succeed. */
  async function succeed(...args: string[]): Promise<string> {
    const ended = await migrate(...args);
    expect(ended.code, ended.stderr).toBe(0);
    return ended.stdout;
  }

  async function startRun(plan: Record<string, unknown> = {}): Promise<void> {
    const payload = { runId: RUN, execute: true, sourceCollection: 'memories', ...plan };
    await runPreflight(world.services, { ...payload, accepts: ['no-graph', 'unknown-space'] });
  }

  const readRun = () => world.services.runs.read(RUN);

  const commands = { commandEnvironment, migrate, startMigrate, succeed };
  return { ...world, ...commands, lambda, startRun, readRun };
}
