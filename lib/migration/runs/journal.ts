// The durable stages of a step. A step is invoked until it is done, and its function runs from the top each time: a stage that
// has passed returns what it recorded, and does not run again. So the function reads as its runbook.
//
// A stage that is killed between its work and its record runs again: its effect must be idempotent, or its cursor recorded before.
import * as v from 'valibot';
import type { Progress } from './run.ts';
import { outOfTime, type StepContext } from './step.ts';

/** Cursors and results of stages are plain JSON. */
export interface Journal {
  /** Does its work in one call. */
  once<Found>(stage: string, work: () => Promise<Found>): Promise<Found>;
  /**
   * Checks until it finds something. A check that has to wait throws `Paused`.
   * @param check gets what the check before it kept
   */
  poll<Seen, Found>(stage: string, check: Check<Seen, Found>): Promise<Found>;
  /** Takes page after page, beginning after the last one that was recorded. */
  walk<Cursor, Found>(stage: string, take: Take<Cursor, Found>): Promise<Found>;
  /** A stage with stages of its own: their journal is its cursor, and once it has passed only its result is kept. */
  part<Found>(stage: string, work: (stages: Journal) => Promise<Found>): Promise<Found>;
  /** The last stage of a step that must reach its end: it starts even without time left, and its result is not recorded. */
  end<Seen, Found>(stage: string, work: Check<Seen, Found>): Promise<Found>;
  readonly recorded: RecordedJournal;
  /** Replaces the record, so that stages that are not in it run again. */
  rewrite(next: RecordedJournal): Promise<void>;
}

type Check<Seen, Found> = (seen: Seen | undefined, keep: Keep<Seen>) => Promise<Found>;

type Take<Cursor, Found> = (cursor: Cursor | undefined) => Promise<Page<Cursor, Found>>;

/** Records a cursor. Called before an effect that must not be repeated, it tells a later invocation that it may have happened. */
export type Keep<Cursor> = (cursor: Cursor, progress?: Progress) => Promise<unknown>;

/** The place where a stage resumes, as it was stored, and the call that records the next one. */
export interface StageCursor {
  readonly reached: unknown;
  readonly save: Keep<unknown>;
}

/** A page of a walk: where the next one begins, or what the whole walk has found. */
export type Page<Cursor, Found> =
  | { readonly next: Cursor; readonly progress?: Progress }
  | { readonly found: Found };

export const journalSchema = v.strictObject({
  /** The name of a stage stands for the shape of its result: another shape needs another name. */
  passed: v.record(
    v.string(),
    v.object({
      found: v.optional(v.unknown()),
      /** How long the step had worked by then */
      workedMs: v.optional(v.number()),
    }),
  ),
  /** The current stage. Its cursor is replaced as it advances, and dropped once it has passed. */
  open: v.optional(v.object({ stage: v.string(), cursor: v.unknown() })),
  /** Decisions that hold for all stages, and survive when stages run again (steps/switch-journal.ts) */
  noted: v.optional(v.record(v.string(), v.unknown())),
});

export const NOTHING_RECORDED: RecordedJournal = { passed: {} };

export type RecordedJournal = v.InferOutput<typeof journalSchema>;

/**
 * @param recorded by earlier invocations
 * @param save stores the journal, and stops a step that has lost its lock
 */
export function openJournal(
  context: Pick<StepContext, 'hasTime' | 'renew' | 'workedMs'>,
  { recorded, save }: { readonly recorded: unknown; readonly save: Keep<RecordedJournal> },
): Journal {
  let journal = v.parse(v.optional(journalSchema, NOTHING_RECORDED), recorded);

  async function record(next: RecordedJournal, progress?: Progress): Promise<void> {
    journal = next;
    await save(next, progress);
  }

  function resume<Cursor, Found>(stage: string, work: Check<Cursor, Found>): Promise<Found> {
    return work(readStage(journal, stage) as Cursor | undefined, (cursor, progress) =>
      record({ ...journal, open: { stage, cursor } }, progress),
    );
  }

  async function runStage<Cursor, Found>(
    stage: string,
    work: Check<Cursor, Found>,
  ): Promise<Found> {
    const before = journal.passed[stage];
    if (before) return before.found as Found;
    await continueOrPause();
    const found = await resume(stage, work);
    const { open: _, ...rest } = journal;
    const entry = { found, workedMs: context.workedMs() };
    await record({ ...rest, passed: { ...journal.passed, [stage]: entry } });
    return found;
  }

  async function continueOrPause(): Promise<void> {
    if (!context.hasTime()) throw outOfTime();
    await context.renew();
  }

  return {
    once: runStage,
    poll: runStage,
    walk: <Cursor, Found>(stage: string, take: Take<Cursor, Found>) =>
      runStage<Cursor, Found>(stage, async (begun, keep) => {
        let page = await take(begun);
        while ('next' in page) {
          await keep(page.next, page.progress);
          await continueOrPause();
          page = await take(page.next);
        }
        return page.found;
      }),
    part: (stage, work) =>
      runStage(stage, (recorded, save) => work(openJournal(context, { recorded, save }))),
    end: resume,
    get recorded() {
      return journal;
    },
    rewrite: record,
  };
}

/** Returns the result of a stage that has passed, the cursor of the current one, and undefined for any other. */
export function readStage({ passed, open }: RecordedJournal, stage: string): unknown {
  return stage in passed ? passed[stage]?.found : open?.stage === stage ? open.cursor : undefined;
}
