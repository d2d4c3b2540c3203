// The durable stages of a step. A step is invoked until it is done, and its function runs from the top each time. A stage that has
// passed does not run again: it returns its recorded result. So the function reads like a runbook.
//
// A stage that is killed between its work and its record runs again: its effect must be idempotent, or its cursor must be
// recorded before the effect.
import * as v from 'valibot';
import type { Command } from '../phases.ts';
import { upgradeNotes } from './released-run.ts';
import type { Progress } from './run.ts';
import type { RunStore } from './run-store.ts';
import { POLL_SECONDS } from './times.ts';

/** Point at which a step, or one of its stages, resumes. Cursors and results are plain JSON. */
export interface Resumed<Cursor = unknown> {
  /** The last saved cursor; undefined at the beginning */
  readonly cursor: Cursor | undefined;
  /**
   * Replaces the cursor. If it is saved before an effect that must not be repeated, a later invocation knows that the effect may
   * have happened. Throws if the step has lost its lock.
   */
  saveCursor(cursor: Cursor, progress?: Progress): Promise<unknown>;
}

/** Work that proceeds page by page, can pause after each page, and resumes at its cursor */
export interface Walk<Cursor> extends Resumed<Cursor> {
  /**
   * Call after each page. Saves the cursor if the page is due or no time is left.
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

/** The context of a step or a stage. If the step or stage consists of stages, their journal is its cursor. */
export interface Staged<Context, Cursor = unknown> extends Walk<Cursor> {
  readonly stages: Journal<Context>;
}

type Work<Context, Found, Cursor> = (context: Context & Staged<Context, Cursor>) => Promise<Found>;

export interface Journal<Context> {
  /** Runs a stage once, and records its result in place of its cursor. A stage that waits throws `Paused`, and runs again later. */
  once<Found, Cursor = unknown>(stage: string, work: Work<Context, Found, Cursor>): Promise<Found>;
  /** Runs the last stage of a step that must reach its end: it starts even without time left, and its result is not recorded. */
  runLast<Found, Cursor = unknown>(
    stage: string,
    work: Work<Context, Found, Cursor>,
  ): Promise<Found>;
  readonly recorded: RecordedJournal;
  /** Replaces the journal, so that stages that are not in the new one run again. */
  rewrite(next: RecordedJournal): Promise<void>;
}

export const journalSchema = v.strictObject({
  /** Results by stage. If the shape of a stage's result changes, the stage needs a new name. */
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
  /** Call before each batch of changes: throws if the lock was taken over. */
  readonly renewLease: () => Promise<void>;
  /** Time that the step has worked, over all its invocations */
  readonly workedMs: () => number;
}

/** Adds the cursor, checkpoints and stages of a step, or of one of its stages, to the context. */
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

/** @param resumed the cursor to begin at, and the function that saves later cursors */
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

  // Parsed at the first use, because the cursor of a stage that has no stages is not a journal.
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
    work: Work<Context, Found, Cursor>,
  ): Promise<Found> {
    return work(
      resume<Context, Cursor>(context, {
        cursor: readStage(read(), stage) as Cursor | undefined,
        saveCursor: (cursor, progress) => record({ ...read(), open: { stage, cursor } }, progress),
      }),
    );
  }

  async function once<Found, Cursor>(
    stage: string,
    work: Work<Context, Found, Cursor>,
  ): Promise<Found> {
    const passedEntry = read().passed[stage];
    if (passedEntry) return passedEntry.found as Found;
    if (!context.hasTime()) throw outOfTime();
    await context.renewLease();
    const found = await runStage(stage, work);
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
 * @returns undefined if nothing was recorded yet
 * @throws ValiError for an unreadable record: a rollback that mistook the record for an empty one would only open writes, although
 * users may be on either version
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

/** @returns the result of a stage that has passed; the cursor of the current stage; undefined for any other stage */
export function readStage({ passed, open }: RecordedJournal, stage: string): unknown {
  return stage in passed ? passed[stage]?.found : open?.stage === stage ? open.cursor : undefined;
}

/** Facts that the stages of a switch return for its report */
export type Facts = Readonly<Record<string, string | number>>;

/** Facts of all passed stages */
export function collectFacts(journal: RecordedJournal): Facts {
  return Object.assign({}, ...Object.values(stagesOf(journal)).map(({ found }) => found));
}

/** @returns the passed stages, without the decisions recorded beside them, whose names begin with "#" */
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

/** Thrown by a step that has to wait. Ends the invocation, but is not a failure. */
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
