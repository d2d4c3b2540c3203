// The operations of an act: start the state machine, roll back, run the watch, run and kill a process, add a fault, and let time
// pass.
import type { HookAction } from '../../lib/migration/ports/hooks.ts';
import { advance } from '../../lib/migration/runs/advance.ts';
import type { Intent } from '../../lib/migration/runs/input.ts';
import type { Run } from '../../lib/migration/runs/run.ts';
import type { Services } from '../../lib/migration/services.ts';
import { cutover } from '../../lib/migration/steps/cutover.ts';
import { runPreflight } from '../../lib/migration/steps/preflight.ts';
import { assertMet } from '../../lib/migration/steps/prerequisites.ts';
import { rollback } from '../../lib/migration/steps/rollback.ts';
import { keepWatch } from '../../lib/migration/steps/watch.ts';
import { startWebhook } from '../webhook.ts';
import type { WorldOptions } from '../world.ts';
import { createDiary, type Diary } from './diary.ts';
import type { Fault } from './fault-proxy.ts';
import type { Parts } from './parts.ts';
import { createSkippingClock, type SkippingClock } from './skipping-clock.ts';
import { type Stage, setStage } from './stage.ts';
import { execute } from './state-machine.ts';
import { type StepProcess, startMigrate } from './step-process.ts';

/** Free space that the plan declares for the store: enough for several hundred thousand small memories. */
const FREE_BYTES = 1e9;

export interface Rehearsal extends Stage, Diary {
  /**
   * Plays the operator, who begins the run and gives every approval; the state machine continues the run from its current
   * phase.
   * @returns the error of a refused preflight or a failed execution; undefined on success
   */
  migrate(options?: MigrateOptions): Promise<Error | undefined>;
  /** Repeats the rollback step until it is done. @throws Refusal */
  rollBack(intent?: Intent): Promise<void>;
  /** Runs the watch, which a timer runs on AWS, until nothing is due. */
  keepWatch(): Promise<void>;
  /** Runs a step in a separate process. */
  startStepProcess(
    args: readonly string[],
    onHook?: (action: HookAction) => void,
  ): Promise<StepProcess>;
  addFault(fault: Fault): void;
  advanceClock(milliseconds: number): void;
  run(): Promise<Run>;
}

interface MigrateOptions {
  /** State before which the state machine is stopped */
  readonly until?: string;
  readonly onTask?: (state: string) => void | Promise<void>;
  readonly services?: Services;
}

interface RehearsalOptions {
  /** True for a swap by snapshot and upload. */
  readonly uploads?: boolean | undefined;
  readonly options: Partial<WorldOptions>;
}

/** @param number number of the act */
export async function startRehearsal(
  parts: Parts,
  number: number,
  { uploads, options }: RehearsalOptions,
): Promise<Rehearsal> {
  const clock = createSkippingClock(parts);
  const stage = await setStage(parts, { number, clock: clock.now }, options);
  const diary = createDiary(clock.minutes);
  const { services } = stage;
  let isBegun = false;
  const begin = async (actServices: Services) => {
    if (isBegun) return;
    diary.note('Preflight');
    const swap = uploads ? { uploadAs: stage.uploadAs } : { inPlace: options.isInPlace };
    const accepts = actServices.graph ? [] : ['no-graph'];
    const plan = { sourceCollection: stage.source, freeBytes: FREE_BYTES, accepts, ...swap };
    const payload = { runId: parts.runId, execute: true, ...plan };
    assertMet((await runPreflight(actServices, payload)).prerequisites);
    isBegun = true;
  };
  return {
    ...stage,
    ...diary,
    async migrate(migrateOptions = {}) {
      const refusal = await captureFailure(begin(migrateOptions.services ?? services));
      return refusal ?? (await runMachine({ stage, diary, clock }, migrateOptions));
    },
    async rollBack(intent = {}) {
      const request = { runId: parts.runId, intent, timeLeftMs: () => 600_000 };
      await poll(clock, () => advance(rollback, services, request));
      diary.note('rolled back');
    },
    async keepWatch() {
      const result = await poll(clock, () => keepWatch(services));
      if (result && !result.dryRun) diary.note(`the watch: ${result.phase}`);
    },
    async startStepProcess(stepArgs, onHook) {
      const webhook = await startWebhook(services.hooks, onHook);
      const args = [...stepArgs, '--run', parts.runId, '--execute'];
      const environment = { ...stage.environment, MIGRATION_WEBHOOK_URL: webhook.url };
      const stepProcess = startMigrate(parts.resources, args, environment);
      stepProcess.ended.finally(webhook.close);
      return stepProcess;
    },
    addFault: parts.store.faultProxy.addFault,
    advanceClock: clock.advance,
    run: () => services.runs.read(parts.runId),
  };
}

interface Scene {
  readonly stage: Stage;
  readonly diary: Diary;
  readonly clock: SkippingClock;
}

async function runMachine(
  { stage, diary, clock }: Scene,
  { until, onTask, services = stage.services }: MigrateOptions,
): Promise<Error | undefined> {
  const { runId } = stage.parts;
  const stop = new AbortController();
  const { failure } = await execute({
    runId,
    services,
    waitMs: clock.waitMs,
    signal: stop.signal,
    beforeTask: async (state) => {
      if (state === until) {
        stop.abort();
        // Never resolves: a dead process takes no further step.
        await new Promise(() => {});
      }
      if (state === 'ReadStatus') await openWindow(services, runId);
      else if (diary.timeline.at(-1)?.event !== state) diary.note(state);
      await onTask?.(state);
      clock.advancePoll();
    },
  });
  if (stop.signal.aborted) return undefined;
  const { phase } = await services.runs.read(runId);
  diary.note(failure ? `ended with ${failure.name}` : phase);
  return failure;
}

/** Opens the window, as an operator does after reading and approving the report. */
async function openWindow(services: Services, runId: string): Promise<void> {
  const run = await services.runs.read(runId);
  const approvedDigest = run.evidence['verification-report']?.digest;
  if (run.phase !== 'copied' || approvedDigest === undefined) return;
  const intent = { approvedDigest, approvedBy: 'rehearsal' };
  // No time is left after the window opens, so the state machine continues the cutover.
  await advance(cutover, services, { runId, intent, timeLeftMs: () => 0 });
}

async function poll<Result extends Awaited<ReturnType<typeof keepWatch>>>(
  clock: SkippingClock,
  attempt: () => Promise<Result>,
): Promise<Result> {
  for (;;) {
    const result = await attempt();
    if (result === undefined || result.dryRun || result.done) return result;
    await clock.wait(result.waitSeconds);
  }
}

/** Returns the error of a failed attempt; undefined if the attempt succeeded. */
export async function captureFailure(attempt: Promise<unknown>): Promise<Error | undefined> {
  return await attempt.then(
    () => undefined,
    (error: Error) => error,
  );
}
