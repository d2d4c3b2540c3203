// The durable stages of a step. A step is invoked until it is done, and its function runs from the top each time: a stage that
// has passed returns what it recorded, and does not run again. So the function reads like a runbook.
//
// A stage that is killed between its work and its record runs again: its effect must be idempotent, or its cursor must be
// recorded before the effect.
import * as v from 'valibot';
import type { Command } from '../phases.ts';
import { upgradeNotes } from './released-run.ts';
import type { Progress } from './run.ts';
import type { RunStore } from './run-store.ts';
import { POLL_SECONDS } from './times.ts';

/** The place where a step, or one of its stages, resumes. Cursors and results are plain JSON. */
export interface Resumed<Cursor = unknown> {
  /** The last saved cursor; undefined at the beginning */
  readonly cursor: Cursor | undefined;
  /**
   * Replaces the cursor. Called before an effect that must not be repeated, it tells a later invocation that the effect may have
   * happened. Stops a step that has lost its lock.
   */
  saveCursor(cursor: Cursor, progress?: Progress): Promise<unknown>;
}

/** Work that goes page by page, can pause after each page, and resumes at its cursor */
export interface Walk<Cursor> extends Resumed<Cursor> {
  /**
   * Called after each page. Saves the cursor if that is due or no time is left.
   * @throws Paused if no time is left
   */
  checkpoint(read: () => Cursor | Promise<Cursor>, page?: Page): Promise<void>;
}

export interface Page {
  /** False for a page that costs less than saving the cursor; true by default */
  readonly isDue?: boolean;
  readonly progress?: Progress;
}

/** A walk from the beginning to the end, without a pause */
export const UNINTERRUPTED: Walk<never> = {
  cursor: undefined,
  saveCursor: async () => {},
  checkpoint: async () => {},
};

/** The context of a step or a stage. If that has stages, their journal is its cursor. */
export interface Staged<Context, Cursor = unknown> extends Walk<Cursor> {
  readonly stages: Journal<Context>;
}

type Work<Context, Found, Cursor> = (context: Context & Staged<Context, Cursor>) => Promise<Found>;

export interface Journal<Context> {
  /** Runs the stage once: its result replaces its cursor. A stage that waits throws `Paused`, and runs again with its cursor. */
  once<Found, Cursor = unknown>(stage: string, work: Work<Context, Found, Cursor>): Promise<Found>;
  /** Runs the last stage of a step that must reach its end: it starts even without time left, and its result is not recorded. */
  runLast<Found, Cursor = unknown>(
    stage: string,
    work: Work<Context, Found, Cursor>,
  ): Promise<Found>;
  readonly recorded: RecordedJournal;
  /** Replaces the record, so that stages that are not in it run again. */
  rewrite(next: RecordedJournal): Promise<void>;
}

export const journalSchema = v.strictObject({
  /** The name of a stage identifies the shape of its result: another shape needs another name. */
  passed: v.record(
    v.string(),
    v.object({
      found: v.optional(v.unknown()),
      /** How long the step had worked when the stage passed */
      workedMs: v.optional(v.number()),
    }),
  ),
  /** The current stage. Its cursor is replaced as it advances, and dropped once it has passed. */
  open: v.optional(v.object({ stage: v.string(), cursor: v.unknown() })),
});

export const NOTHING_RECORDED: RecordedJournal = { passed: {} };

export type RecordedJournal = v.InferOutput<typeof journalSchema>;

export interface Timed {
  /** False when the step should save its progress and end this invocation. */
  readonly hasTime: () => boolean;
  /** Called before each batch of changes: stops a step whose lock was taken over. */
  readonly renewLease: () => Promise<void>;
  /** Time that the step has worked, over all its invocations */
  readonly workedMs: () => number;
}

/** Adds to the context the place where a step, or one of its stages, resumes. */
export function resume<Context extends Timed, Cursor>(
  context: Context,
  { cursor, saveCursor }: Resumed<Cursor>,
): Context & Staged<Context, Cursor> {
  const stages = openJournal(context, { cursor, saveCursor });
  const { checkpoint } = openWalk(context, { cursor, saveCursor });
  // The context may have getters, which a spread would read only once.
  return Object.defineProperties({} as Context & Staged<Context, Cursor>, {
    ...Object.getOwnPropertyDescriptors(context),
    ...Object.getOwnPropertyDescriptors({ cursor, saveCursor, checkpoint, stages }),
  });
}

/** @param resumed the cursor to begin at, and the function that saves the next ones */
export function openWalk<Cursor>(
  { hasTime }: Pick<Timed, 'hasTime'>,
  resumed: Resumed<Cursor>,
): Walk<Cursor> {
  return {
    ...resumed,
    async checkpoint(read, { isDue = true, progress } = {}) {
      const isOutOfTime = !hasTime();
      if (isDue || isOutOfTime) await resumed.saveCursor(await read(), progress);
      if (isOutOfTime) throw outOfTime();
    },
  };
}

function openJournal<Context extends Timed>(
  context: Context,
  { cursor: recorded, saveCursor }: Resumed,
): Journal<Context> {
  let currentJournal: RecordedJournal | undefined;

  // Parsed at its first use: the cursor of a stage without stages is no journal.
  function read(): RecordedJournal {
    currentJournal ??= parseJournal(recorded) ?? NOTHING_RECORDED;
    return currentJournal;
  }

  async function record(next: RecordedJournal, progress?: Progress): Promise<void> {
    currentJournal = next;
    await saveCursor(next, progress);
  }

  function runStage<Found, Cursor>(
    stage: string,
    task: Work<Context, Found, Cursor>,
  ): Promise<Found> {
    return task(
      resume<Context, Cursor>(context, {
        cursor: readStage(read(), stage) as Cursor | undefined,
        saveCursor: (cursor, progress) => record({ ...read(), open: { stage, cursor } }, progress),
      }),
    );
  }

  async function once<Found, Cursor>(
    stage: string,
    task: Work<Context, Found, Cursor>,
  ): Promise<Found> {
    const passedEntry = read().passed[stage];
    if (passedEntry) return passedEntry.found as Found;
    if (!context.hasTime()) throw outOfTime();
    await context.renewLease();
    const found = await runStage(stage, task);
    const entry = { found, workedMs: context.workedMs() };
    await record({ passed: { ...read().passed, [stage]: entry } });
    return found;
  }

  return {
    once,
    runLast: runStage,
    get recorded() {
      return read();
    },
    rewrite: record,
  };
}

/**
 * Undefined before the first record. An unreadable record is an error: users may be on either version, and a rollback that
 * took it for the beginning would only open writes. @throws ValiError
 */
export function parseJournal(recorded: unknown): RecordedJournal | undefined {
  return v.parse(v.optional(journalSchema), upgradeNotes(recorded));
}

/** Journal of a step; undefined before its first stage */
export async function readJournal(
  { runs }: { readonly runs: Pick<RunStore, 'readCheckpoint'> },
  runId: string,
  step: Command,
): Promise<RecordedJournal | undefined> {
  return parseJournal((await runs.readCheckpoint(runId, step))?.state);
}

/** Returns the result of a stage that has passed, the cursor of the current one, and undefined for any other. */
export function readStage({ passed, open }: RecordedJournal, stage: string): unknown {
  return stage in passed ? passed[stage]?.found : open?.stage === stage ? open.cursor : undefined;
}

/** Facts for the report of a step, which the stages of a switch return */
export type Facts = Readonly<Record<string, string | number>>;

/** Facts of all passed stages */
export function collectFacts(journal: RecordedJournal): Facts {
  return Object.assign({}, ...Object.values(stagesOf(journal)).map(({ found }) => found));
}

/** Passed stages, without the decisions that are recorded beside them: the names of those begin with "#". */
export function stagesOf({ passed }: RecordedJournal): RecordedJournal['passed'] {
  return Object.fromEntries(Object.entries(passed).filter(([name]) => !name.startsWith('#')));
}

/** How long to wait before the step is repeated, and for what */
export interface Waiting {
  readonly waitSeconds: number;
  /** Shown to the operator after "waiting for" */
  readonly waitsFor?: string;
  /** True if a person has to carry out an action */
  readonly needsPerson?: boolean;
  /** Time until the wait is over, if it is known */
  readonly leftSeconds?: number;
}

/** Thrown by a step that has to wait: ends the invocation, and is no failure. */
export class Paused extends Error {
  override readonly name = 'Paused';
  readonly waiting: Waiting;

  constructor({ waitSeconds = POLL_SECONDS, ...waiting }: Partial<Waiting>) {
    super(`Waiting for ${waiting.waitsFor ?? 'the next invocation'}`);
    this.waiting = { waitSeconds, ...waiting };
  }
}

/** The time of the invocation is up: the next one begins immediately. */
export function outOfTime(): Paused {
  return new Paused({ waitsFor: 'more time', waitSeconds: 0 });
}
