// A run in a sandbox world: its steps as an operator or the state machine would take them.
import { onTestFinished } from 'vitest';
import { abandon } from '../../../lib/migration/abandon.ts';
import { backup } from '../../../lib/migration/backup.ts';
import { preflight } from '../../../lib/migration/preflight.ts';
import { rebuild } from '../../../lib/migration/rebuild.ts';
import { startRun } from '../../../lib/migration/start.ts';
import {
  type Step,
  type StepInput,
  type StepResult,
  takeStep,
} from '../../../lib/migration/step.ts';
import { SOURCE, startSandboxWorld, type WorldOptions } from '../../../local/sandbox/world.ts';
import { createRunTable } from './run-table.ts';

export const RUN = 'run-a';

export const STEPS = { preflight, backup, rebuild, abandon } as const;

export type StepName = keyof typeof STEPS;

export type Migration = Awaited<ReturnType<typeof createMigration>>;

/** Goes away with the test. */
export async function createMigration(options: Partial<WorldOptions> = {}) {
  const table = await createRunTable();
  const { clock, runs, lock, approvals } = table;
  const remembering = { clock, runs, lock, approvals };
  const world = await startSandboxWorld({ runId: RUN, remembering, ...options });
  onTestFinished(world.close);
  const { services } = world;
  const target = `${SOURCE}_v3_${RUN}`;

  async function start(plan: Record<string, unknown> = {}): Promise<void> {
    await startRun(services, { runId: RUN, execute: true, sourceCollection: SOURCE, ...plan });
  }

  /** One invocation. */
  async function invoke(name: StepName, input: Partial<StepInput> = {}): Promise<StepResult> {
    const step: Step = STEPS[name];
    const payload = { runId: RUN, execute: true, ...input };
    return await takeStep(step, services, { payload, timeLeftMs: () => 600_000 });
  }

  /** As often as the step asks for it, the time it asks for passing in between. */
  async function finish(name: StepName, input: Partial<StepInput> = {}): Promise<StepResult> {
    for (;;) {
      const result = await invoke(name, input);
      if (result.dryRun || result.done) return result;
      table.pass(result.waitSeconds * 1_000);
    }
  }

  async function follow(...names: StepName[]): Promise<void> {
    for (const name of names) await finish(name);
  }

  return { ...table, ...world, target, start, invoke, finish, follow };
}
