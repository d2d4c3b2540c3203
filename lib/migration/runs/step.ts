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
  /** Empty if a machine runs the step */
  readonly input: Intent;
  readonly run: Run;
}

export interface WorkContext extends StepRequest, Timed {
  readonly lease: Lease;
  /** Aborts when the lease is lost or the step is interrupted, to end a long change. */
  readonly signal: AbortSignal;
  /**
   * Enters the phase in which users may notice the step, unless the run is in it already. A refusal of `prepare` leaves the run
   * in its phase.
   * @param prepare checks and plans; its result is added to the record
   */
  readonly begin: (prepare: () => Promise<Pick<Run, 'window'>>) => Promise<void>;
  /** Changes the record before an effect that cannot be seen afterwards, or before the step refuses. */
  readonly updateRun: (changes: Partial<Omit<Run, 'runId' | 'plan' | 'phase'>>) => Promise<void>;
}

/** Input of a step's work, and of each of its stages */
export type StepContext<Cursor = unknown> = WorkContext & Staged<WorkContext, Cursor>;

/** The result of a step that is done. One that is not done throws `Paused`. */
export interface Outcome {
  readonly evidence?: Reference;
  /** Changes to the record besides phase and evidence */
  readonly changes?: Partial<Pick<Run, 'window' | 'served' | 'takesNoWindow' | 'hasUploaded'>>;
  /** Seconds that its stages took */
  readonly took?: Run['took'];
  /** Phase after the step, if it differs from the step's target */
  readonly phase?: Run['phase'];
  /** Thrown after the result is recorded */
  readonly refusal?: Refusal;
}

/** Result of a dry run: findings of the step, and what it would do */
export type Forecast = Readonly<Record<string, unknown>>;

export interface Step {
  readonly command: Command;
  /** Makes a dry run. */
  readonly forecast?: (context: StepRequest) => Promise<Forecast>;
  /** True if the step stops at the deadline of its window */
  readonly endsWithWindow?: true;
  /** The rollback step, which begins when this one fails while users wait */
  readonly rollsBackBy?: Step;
  readonly work: (context: StepContext) => Promise<Outcome>;
}
