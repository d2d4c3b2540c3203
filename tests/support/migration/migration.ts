// A run in a sandbox world: its steps as an operator or the state machine would take them.
import { onTestFinished } from 'vitest';
import type { Gate } from '../../../lib/migration/phases.ts';
import { type Step, type StepResult, takeStep } from '../../../lib/migration/runs/step.ts';
import type { StepInput } from '../../../lib/migration/runs/step-input.ts';
import { abandon } from '../../../lib/migration/steps/abandon.ts';
import { backup } from '../../../lib/migration/steps/backup.ts';
import { copy } from '../../../lib/migration/steps/copy-step.ts';
import { cutover } from '../../../lib/migration/steps/cutover.ts';
import { freeze } from '../../../lib/migration/steps/freeze.ts';
import { createRun } from '../../../lib/migration/steps/new-run.ts';
import { preflight } from '../../../lib/migration/steps/preflight.ts';
import { rebuild } from '../../../lib/migration/steps/rebuild.ts';
import { retention } from '../../../lib/migration/steps/retention.ts';
import { rollback } from '../../../lib/migration/steps/rollback.ts';
import { stay } from '../../../lib/migration/steps/stay.ts';
import { verify } from '../../../lib/migration/steps/verify-step.ts';
import {
  SOURCE,
  startSandboxWorld,
  type WorldImage,
  type WorldOptions,
} from '../../../local/sandbox/world.ts';
import { createRunTable, type RunTableImage } from './run-table.ts';

export const RUN = 'run-a';

export const STEPS = {
  preflight,
  backup,
  rebuild,
  copy,
  verify,
  freeze,
  cutover,
  rollback,
  stay,
  retention,
  abandon,
} as const;

export type StepName = keyof typeof STEPS;

export type Migration = Awaited<ReturnType<typeof createMigration>>;

/**
 * Goes away with the test.
 * @param image what it starts from; a world without a run by default
 */
export async function createMigration(
  options: Partial<WorldOptions> = {},
  image?: { readonly world: WorldImage; readonly table: RunTableImage },
) {
  const table = await createRunTable(image?.table);
  const { clock, runs, lock, approvals } = table;
  const remembering = { clock, runs, lock, approvals };
  const world = await startSandboxWorld({
    runId: RUN,
    remembering,
    image: image?.world,
    ...options,
  });
  onTestFinished(world.close);
  const { services } = world;
  const target = `${SOURCE}_v3_${RUN}`;

  async function start(plan: Record<string, unknown> = {}): Promise<void> {
    const enough = { freeBytes: 1e9 };
    const own = { runId: RUN, execute: true, sourceCollection: SOURCE };
    await createRun(services, { ...own, ...enough, ...plan });
  }

  /** One invocation. */
  async function invoke(
    name: StepName,
    input: Partial<StepInput> = {},
    spoken = services,
  ): Promise<StepResult> {
    const step: Step = STEPS[name];
    const payload = { runId: RUN, execute: true, ...input };
    return await takeStep(step, spoken, { payload, timeLeftMs: () => 600_000 });
  }

  /** As often as the step asks for it, the time it asks for passing in between. */
  async function finish(
    name: StepName,
    input: Partial<StepInput> = {},
    spoken = services,
  ): Promise<StepResult> {
    for (;;) {
      const result = await invoke(name, input, spoken);
      if (result.dryRun || result.done) return result;
      table.pass(result.waitSeconds * 1_000);
    }
  }

  async function follow(...names: StepName[]): Promise<void> {
    for (const name of names) await finish(name);
  }

  /** What an operator says after looking at the evidence of the moment. */
  async function approve(gate: Gate): Promise<void> {
    const run = await runs.read(RUN);
    const evidenceDigest = run.evidence['verification-report']?.digest ?? '';
    const expiresAt = clock().getTime() + 3_600_000;
    await approvals.approve(run, { gate, evidenceDigest, approvedBy: 'ada', expiresAt });
  }

  /** From the beginning to the middle of the window, all of it proved. */
  async function prove(plan: Record<string, unknown> = {}): Promise<void> {
    await start(plan);
    await follow('preflight', 'backup', 'rebuild', 'copy', 'verify');
    await approve('window');
    await follow('freeze', 'backup', 'copy', 'verify');
  }

  return { ...table, ...world, target, start, invoke, finish, follow, approve, prove };
}
