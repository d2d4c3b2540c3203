// Types of a step, its input and its result. runs/run-step.ts runs steps.
import type { Command } from '../phases.ts';
import type { Refusal } from '../refusals.ts';
import type { Services } from '../services.ts';
import type { Intent } from './input.ts';
import type { Staged, Timed } from './journal.ts';
import type { Reference, Run } from './run.ts';
import type { Lease } from './run-lock.ts';

export interface StepRequest {
  readonly services: Services;
  /** Options that a person gave for the step, in this call or an earlier one */
  readonly input: Intent;
  readonly run: Run;
}

export interface WorkContext extends StepRequest, Timed {
  readonly lease: Lease;
  /** Aborts when the lease is lost or the step is interrupted, so that a long change ends. */
  readonly signal: AbortSignal;
  /**
   * Enters the phase in which users may notice the step, unless the run is in it already. If `prepare` throws, the run stays in
   * its previous phase.
   * @param prepare checks that the step can begin, and plans it; its result is added to the run's record
   */
  readonly begin: (prepare: () => Promise<Pick<Run, 'window'>>) => Promise<void>;
  /** Changes the run's record. Called before an effect that cannot be detected afterwards, or before the step refuses. */
  readonly updateRun: (changes: Partial<Omit<Run, 'runId' | 'plan' | 'phase'>>) => Promise<void>;
}

/** Input of a step's work, and of each of its stages */
export type StepContext<Cursor = unknown> = WorkContext & Staged<WorkContext, Cursor>;

/** Result of a finished step. An unfinished step throws `Paused` instead. */
export interface Outcome {
  readonly evidence?: Reference;
  /** Changes to the run's record, besides phase and evidence */
  readonly changes?: Partial<Pick<Run, 'window' | 'served' | 'takesNoWindow' | 'hasUploaded'>>;
  /** Seconds that the step's stages took */
  readonly took?: Run['took'];
  /** Phase after the step, if it differs from the step's target */
  readonly phase?: Run['phase'];
  /** Refusal to throw once the result is recorded */
  readonly refusal?: Refusal;
}

/** Result of a dry run: what the step found, and what it would do */
export type Forecast = Readonly<Record<string, unknown>>;

export interface Step {
  readonly command: Command;
  /** Makes a dry run. */
  readonly forecast?: (context: StepRequest) => Promise<Forecast>;
  /** True if the step stops at the deadline of its window */
  readonly endsWithWindow?: true;
  /** Begins if this step fails while users wait */
  readonly rollbackStep?: Step;
  readonly work: (context: StepContext) => Promise<Outcome>;
}
