// The command line as an operator uses it: a process of its own over the sandbox, here or on a stage.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished } from 'vitest';
import { askAPerson } from '../../../lib/migration/adapters/webhook.ts';
import type { Gate } from '../../../lib/migration/phases.ts';
import { createRemembering } from '../../../lib/migration/runs/remembering.ts';
import { type Step, takeStep } from '../../../lib/migration/runs/step.ts';
import type { Services } from '../../../lib/migration/services.ts';
import { startRun } from '../../../lib/migration/steps/start.ts';
import { startSandboxWorld } from '../../../local/sandbox/world.ts';
import { createTestTable } from '../test-table.ts';
import { startLambdaDouble } from './lambda-double.ts';
import { STEPS, type StepName } from './migration.ts';
import { startWebhook } from './webhook-double.ts';

export const COMMAND = join(import.meta.dirname, '../../../local/migrate.ts');
const STAGE = 'dev';

export const RUN = 'run-a';
export const OF_RUN = ['--run', RUN];
export const START = [
  'start',
  ...OF_RUN,
  '--source',
  'memories',
  '--accept',
  'no-graph',
  '--free-gb',
  '1',
];
export const CONFIRMED = ['--execute', '--yes-run', RUN];

/** Eleven processes, and a store that has to hold still. */
export const PATIENT = { timeout: 240_000 };

/** Where the functions run. */
export const PLACES = ['here', 'on a stage'] as const;
export type PlaceName = (typeof PLACES)[number];

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** No account is looked for, and none found. */
export const NO_ACCOUNT = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  AWS_EC2_METADATA_DISABLED: 'true',
};

export async function migrateWith(
  environment: NodeJS.ProcessEnv,
  ...words: string[]
): Promise<Ended> {
  return await startMigrateWith(environment, ...words).ended;
}

/** For whoever listens to it meanwhile. */
export function startMigrateWith(environment: NodeJS.ProcessEnv, ...words: string[]) {
  const child = spawn(process.execPath, [COMMAND, ...words], {
    env: { ...NO_ACCOUNT, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { child, ended: endOf(child) };
}

async function endOf(child: ChildProcessByStdio<null, Readable, Readable>): Promise<Ended> {
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, stdout, stderr };
}

const ACCESS = {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
};

export interface OperatorOptions {
  /** Whether a webhook does what else a person does; a person, unless told. */
  readonly hasWebhook?: boolean;
}

/** An operator with a world to migrate; it goes away with the test. */
export async function createOperator(
  place: PlaceName = 'here',
  { hasWebhook = false }: OperatorOptions = {},
) {
  const { client, tableName, endpoint } = await createTestTable();
  const clock = createClock();
  const remembering = createRemembering({ client, tableName, clock: clock.told });
  const world = await startSandboxWorld({ runId: RUN, remembering, hasGraph: false });
  onTestFinished(world.close);
  const hooks = hasWebhook ? world.operator.hooks : askAPerson;
  // The commands live now, whenever the steps before them were taken.
  const now = () => new Date();
  const deployed = createRemembering({ client, tableName, clock: now });
  const lambda = await startLambdaDouble(STAGE, { ...world.services, ...deployed, hooks });
  onTestFinished(lambda.close);
  const webhook = await startWebhook(hooks);
  onTestFinished(webhook.close);
  const environments = {
    here: {
      ...world.environment,
      ...{ TABLE_NAME: tableName, DYNAMODB_ENDPOINT: endpoint },
      ...(hasWebhook ? { MIGRATION_WEBHOOK_URL: webhook.url } : {}),
    },
    'on a stage': { ...ACCESS, AWS_ENDPOINT_URL_LAMBDA: lambda.url },
  };
  const named: NodeJS.ProcessEnv = environments[place];
  const there = place === 'here' ? [] : ['--stage', STAGE];

  const startMigrate = (...words: string[]) => startMigrateWith(named, ...words, ...there);
  const migrate = (...words: string[]) => startMigrate(...words).ended;

  /** As an operator who expects it to work. */
  async function succeed(...words: string[]): Promise<string> {
    const ended = await migrate(...words);
    expect(ended.code, ended.stderr).toBe(0);
    return ended.stdout;
  }

  async function start(plan: Record<string, unknown> = {}): Promise<void> {
    const begun = { runId: RUN, execute: true, sourceCollection: 'memories', ...plan };
    await startRun(world.services, { ...begun, accepts: ['no-graph', 'unknown-space'] });
  }

  const record = () => world.services.runs.read(RUN);

  /** Of the evidence of the moment, as a person types it. */
  async function approvalOf(gate: Gate): Promise<string[]> {
    const evidence = (await record()).evidence['verification-report']?.digest ?? '';
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const who = ['--by', 'ada', '--until', until];
    return ['approve', ...OF_RUN, '--gate', gate, '--evidence', evidence, ...who];
  }

  /** Steps that were taken before, by the clock of the test. */
  async function follow(...names: StepName[]): Promise<void> {
    for (const name of names) await finish(STEPS[name], world.services, clock);
  }

  /** Up to the middle of the window, all of it proved. */
  async function prove(plan: Record<string, unknown> = {}): Promise<void> {
    await start(plan);
    await follow('preflight', 'backup', 'rebuild', 'copy', 'verify');
    const run = await record();
    const evidenceDigest = run.evidence['verification-report']?.digest ?? '';
    const expiresAt = clock.told().getTime() + 3_600_000;
    const approval = { gate: 'window', evidenceDigest, approvedBy: 'ada', expiresAt } as const;
    await world.services.approvals.approve(run, approval);
    await follow('freeze', 'backup', 'copy', 'verify');
  }

  /** What stands behind every command that is told. */
  const suffix = there.length > 0 ? ` ${there.join(' ')}` : '';

  const { pass } = clock;
  const typing = { named, there, migrate, startMigrate, succeed, approvalOf, suffix };
  return { ...world, ...typing, lambda, pass, follow, prove, start, record };
}

function createClock() {
  let ahead = 0;
  return {
    told: () => new Date(Date.now() + ahead),
    /** Back, too: what is done then was done so long ago. */
    pass: (milliseconds: number) => {
      ahead += milliseconds;
    },
  };
}

async function finish(
  step: Step,
  services: Services,
  { pass }: ReturnType<typeof createClock>,
): Promise<void> {
  const payload = { runId: RUN, execute: true };
  for (;;) {
    const result = await takeStep(step, services, { payload, timeLeftMs: () => 600_000 });
    if (result.dryRun || result.done) return;
    pass(result.waitSeconds * 1_000);
  }
}
