// The durable stages of a step. A step is invoked until it is done, and its function runs from the top each time: a stage that
// has passed returns what was recorded, and is not worked again. So the function reads as its runbook.
//
// Killed between its work and its record, a stage is worked again: its effect has to be idempotent, or its cursor is kept before.
import * as v from 'valibot';
import type { Progress } from './run.ts';
import { isWaiting, MORE_TIME } from './stages.ts';
import { Paused, type StepContext, type Waiting } from './step.ts';

/** Cursors, and what stages find, are plain JSON. */
export interface Journal {
  /** Works in one go. */
  once<Found>(stage: string, work: () => Promise<Found>): Promise<Found>;
  /**
   * Looks until there is something; the step is invoked again for each look.
   * @param look gets what an earlier one kept
   */
  poll<Seen, Found>(stage: string, look: Look<Seen, Found>): Promise<Found>;
  /** Takes page after page, from the first one that is not recorded. */
  walk<Cursor, Found>(stage: string, take: Take<Cursor, Found>): Promise<Found>;
  /** A stage that has stages itself: they are its cursor, and only what it finds is left of them. */
  part<Found>(stage: string, work: (stages: Journal) => Promise<Found>): Promise<Found>;
  /** See `readStage`. */
  read(stage: string): unknown;
  /** Begins again with the first stage. */
  forget(): Promise<void>;
}

type Look<Seen, Found> = (seen: Seen | undefined, keep: Keep<Seen>) => Promise<Found | Waiting>;

type Take<Cursor, Found> = (cursor: Cursor | undefined) => Promise<Page<Cursor, Found>>;

/** Records a cursor. Before an effect that cannot be repeated, it tells a later invocation that it may have happened. */
export type Keep<Cursor> = (cursor: Cursor, progress?: Progress) => Promise<unknown>;

/** A page of a walk: where the next one begins, or what the whole walk has found. */
export type Page<Cursor, Found> =
  | { readonly next: Cursor; readonly progress?: Progress }
  | { readonly found: Found };

export const journalSchema = v.object({
  /** A stage's name stands for the shape of what it found: another shape needs another name. */
  passed: v.record(v.string(), v.object({ found: v.optional(v.unknown()) })),
  /** The present stage: its cursor is replaced as it goes, and dropped once it has passed. */
  open: v.optional(v.object({ stage: v.string(), cursor: v.unknown() })),
});

export type RecordedJournal = v.InferOutput<typeof journalSchema>;

/**
 * @param recorded by earlier invocations
 * @param save records it, and stops a step that lost its lock
 */
export function openJournal(
  context: Pick<StepContext, 'hasTime' | 'renew'>,
  { recorded, save }: { readonly recorded: unknown; readonly save: Keep<RecordedJournal> },
): Journal {
  let journal = v.parse(v.optional(journalSchema, { passed: {} }), recorded);

  async function record(next: RecordedJournal, progress?: Progress): Promise<void> {
    journal = next;
    await save(next, progress);
  }

  async function pass<Cursor, Found>(
    stage: string,
    work: (cursor: Cursor | undefined, keep: Keep<Cursor>) => Promise<Found>,
  ): Promise<Found> {
    const before = journal.passed[stage];
    if (before) return before.found as Found;
    await goOn();
    const found = await work(readStage(journal, stage) as Cursor | undefined, (cursor, progress) =>
      record({ ...journal, open: { stage, cursor } }, progress),
    );
    await record({ passed: { ...journal.passed, [stage]: { found } } });
    return found;
  }

  async function goOn(): Promise<void> {
    if (!context.hasTime()) throw new Paused(MORE_TIME);
    await context.renew();
  }

  return {
    once: pass,
    poll: <Seen, Found>(stage: string, look: Look<Seen, Found>) =>
      pass<Seen, Found>(stage, async (seen, keep) => {
        const found = await look(seen, keep);
        if (isWaiting(found)) throw new Paused(found);
        return found;
      }),
    walk: <Cursor, Found>(stage: string, take: Take<Cursor, Found>) =>
      pass<Cursor, Found>(stage, async (begun, keep) => {
        let page = await take(begun);
        while ('next' in page) {
          await keep(page.next, page.progress);
          await goOn();
          page = await take(page.next);
        }
        return page.found;
      }),
    part: (stage, work) =>
      pass(stage, (recorded, save) => work(openJournal(context, { recorded, save }))),
    read: (stage) => readStage(journal, stage),
    forget: () => record({ passed: {} }),
  };
}

/** Returns what the stage has found, or how far it has come; undefined before it has begun. */
export function readStage({ passed, open }: RecordedJournal, stage: string): unknown {
  return stage in passed ? passed[stage]?.found : open?.stage === stage ? open.cursor : undefined;
}
