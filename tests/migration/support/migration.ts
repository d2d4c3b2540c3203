// A run in a sandbox world. A test invokes its steps as an operator or the state machine would.
import * as v from 'valibot';
import { onTestFinished } from 'vitest';
import type { ExternalAction } from '../../../lib/migration/phases.ts';
import { Refusal } from '../../../lib/migration/refusals.ts';
import { advance } from '../../../lib/migration/runs/advance.ts';
import { parseStepCall, type StepInput } from '../../../lib/migration/runs/input.ts';
import { journalSchema } from '../../../lib/migration/runs/journal.ts';
import type { StepResult } from '../../../lib/migration/runs/run-step.ts';
import type { Step } from '../../../lib/migration/runs/step.ts';
import { abort } from '../../../lib/migration/steps/abort.ts';
import { backup } from '../../../lib/migration/steps/backup.ts';
import { copy } from '../../../lib/migration/steps/copy.ts';
import { cutover } from '../../../lib/migration/steps/cutover.ts';
import { runPreflight } from '../../../lib/migration/steps/preflight.ts';
import { rebuild } from '../../../lib/migration/steps/rebuild.ts';
import { retention } from '../../../lib/migration/steps/retention.ts';
import { rollback } from '../../../lib/migration/steps/rollback.ts';
import {
  SOURCE,
  startSandboxWorld,
  type WorldImage,
  type WorldOptions,
} from '../../../sandbox/world.ts';
import { changeServices, type ServiceChanges } from './changed-services.ts';
import { type ArtifactsImage, createMemoryArtifacts } from './memory-artifacts.ts';
import { createRunTable, RUN, type RunTableImage } from './run-table.ts';

export { RUN };

export const STEPS = {
  backup,
  rebuild,
  copy,
  cutover,
  rollback,
  retention,
  abort,
} as const;

export type StepName = keyof typeof STEPS;

export type MigrationOptions = Partial<Omit<WorldOptions, 'image' | 'records' | 'artifacts'>>;

/** The state of a migration, from which a test can start others */
export interface MigrationImage {
  readonly world: WorldImage;
  readonly table: RunTableImage;
  readonly artifacts: ArtifactsImage;
}

export type Migration = Awaited<ReturnType<typeof createMigration>>;

/** Returns a function that builds each image once per process. The key is any list of plain values. */
export function createImageCache<Image>() {
  const images = new Map<string, Promise<Image>>();
  return (key: readonly unknown[], build: () => Promise<Image>): Promise<Image> => {
    // JSON would drop an undefined option, which differs from an absent one.
    const text = JSON.stringify(key, (_, value) => value ?? String(value));
    const image = images.get(text) ?? build();
    images.set(text, image);
    return image;
  };
}

/** Filling a new world takes ten times as long as starting one from an image. */
const cacheWorldImage = createImageCache<WorldImage>();

async function fillWorld(settings: WorldOptions): Promise<WorldImage> {
  const world = await startSandboxWorld(settings);
  try {
    return await world.image();
  } finally {
    await world.close();
  }
}

/**
 * Creates a migration, whose world is closed at the end of the test.
 * @param image state from which the migration starts; a world without a run by default
 */
export async function createMigration(options: MigrationOptions = {}, image?: MigrationImage) {
  const table = createRunTable(image?.table);
  const { clock, runs, lock } = table;
  const artifacts = createMemoryArtifacts(clock, image?.artifacts);
  const settings: WorldOptions = {
    runId: RUN,
    records: { clock, runs, lock },
    artifacts: artifacts.store,
    isInProcess: true,
    ...options,
  };
  const world = await startSandboxWorld({
    ...settings,
    image: image?.world ?? (await cacheWorldImage([options], () => fillWorld(settings))),
  });
  onTestFinished(world.close);
  const { services } = world;
  const target = `${SOURCE}_v3_${RUN}`;

  async function start(
    plan: Record<string, unknown> = {},
    changes: ServiceChanges = {},
  ): Promise<void> {
    const payload = {
      runId: RUN,
      execute: true,
      sourceCollection: SOURCE,
      freeBytes: 1e9,
      ...plan,
    };
    const { prerequisites } = await runPreflight(changeServices(services, changes), payload);
    const problems = prerequisites.flatMap(({ name, problems }) =>
      problems.map(({ why, remedy }) => `${name}: ${why} ${remedy}`),
    );
    if (problems.length > 0) throw new Refusal('RefusedPrerequisites', problems.join(' '));
  }

  /**
   * Invokes a step once, then waits until the store has finished its background work, which takes no time on the test's
   * clock.
   * @throws the step's own errors, and the refusal for which the step rolls back
   */
  async function invoke(
    name: StepName,
    input: Partial<StepInput> = {},
    changes: ServiceChanges = {},
    timeLeftMs = () => 600_000,
  ): Promise<StepResult> {
    const step: Step = STEPS[name];
    const payload = { runId: RUN, execute: true, ...(await readApproval(name)), ...input };
    try {
      const changed = changeServices(services, changes);
      const result = await advance(step, changed, { ...parseStepCall(name, payload), timeLeftMs });
      if (result.dryRun || !result.refused) return result;
      throw new Refusal(result.refused.name, result.refused.why, { data: result.refused.data });
    } finally {
      await world.qdrant.waitUntilIdle();
    }
  }

  /** Repeats the step until it is done, and advances the clock by the time that the step asks for in between. */
  async function finish(
    name: StepName,
    input: Partial<StepInput> = {},
    changes: ServiceChanges = {},
  ): Promise<StepResult> {
    for (;;) {
      const result = await invoke(name, input, changes);
      if (result.dryRun || result.done) return result;
      table.advanceClock(result.waitSeconds * 1_000);
    }
  }

  /** Lets the store finish its background work, then advances the clock. */
  async function letTimePass(milliseconds: number): Promise<void> {
    await world.qdrant.waitUntilIdle();
    table.advanceClock(milliseconds);
  }

  async function follow(...names: StepName[]): Promise<void> {
    for (const name of names) await finish(name);
  }

  /** Reads the approval of an operator who has seen the current report. */
  async function readApproval(name: StepName): Promise<Partial<StepInput>> {
    if (name !== 'cutover') return {};
    const { digest } = (await runs.read(RUN)).evidence['verification-report'] ?? {};
    return digest ? { approvedDigest: digest, approvedBy: 'ada' } : {};
  }

  /** Opens the window in an invocation that has no time to do anything else. */
  async function openWindow(): Promise<void> {
    await invoke('cutover', {}, {}, () => 0);
  }

  /** Repeats the cutover until that stage is complete; then the function runs out of time. */
  async function runUntilStage(stage: string, changes: ServiceChanges = {}): Promise<void> {
    let isComplete = false;
    const saveCheckpoint: typeof runs.saveCheckpoint = async (lease, step, checkpoint) => {
      await runs.saveCheckpoint(lease, step, checkpoint);
      isComplete = stage in v.parse(journalSchema, checkpoint.state).passed;
    };
    const timeLeftMs = () => (isComplete ? 0 : 600_000);
    while (!isComplete) {
      const watched = { ...changes, runs: { saveCheckpoint } };
      const result = await invoke('cutover', {}, watched, timeLeftMs);
      if (!result.dryRun) table.advanceClock(result.waitSeconds * 1_000);
    }
  }

  /** Confirms the pending action, as the person who did it would. */
  async function confirm(action: ExternalAction): Promise<void> {
    await runs.confirm(await runs.read(RUN), { action, by: 'ada' });
  }

  /** Takes a run from its start into its window, until both collections are proven equal. */
  async function runUntilEqual(plan: Record<string, unknown> = {}): Promise<void> {
    await start(plan);
    await follow('backup', 'rebuild', 'copy');
    await runUntilStage('equal');
  }

  const takeImage = async (): Promise<MigrationImage> => ({
    world: await world.image(),
    table: table.image(),
    artifacts: artifacts.image(),
  });

  const methods = {
    start,
    invoke,
    finish,
    follow,
    openWindow,
    runUntilStage,
    confirm,
    runUntilEqual,
  };
  return { ...table, ...world, ...methods, image: takeImage, artifacts, target, letTimePass };
}
