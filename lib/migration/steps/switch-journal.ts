// The journal of a switch holds more than the order of its stages: the decisions about a rollback, the facts for the report, and how
// long the parts of a window took.
import * as v from 'valibot';
import type { LateWrites } from '../reconcile-report.ts';
import { NOTHING_RECORDED, type RecordedJournal } from '../runs/journal.ts';
import { type Run, refusedSchema } from '../runs/run.ts';
import type { Services } from '../services.ts';
import { returnSchema } from './return-target.ts';
import { readSwitchJournal } from './stored-checkpoints.ts';

/** Facts for the final report. Each stage of a switch finds some, or nothing. */
export type Facts = Readonly<Record<string, string | number>>;

/** A rollback that begins while writes are frozen has passed this stage already. */
export const FREEZING = 'freezing';

const notesSchema = v.object({
  /** Undefined if the old collection was never left. */
  plan: v.optional(returnSchema),
  /** Time of the first refusal that keeps writes frozen, until a repair lets more stages pass */
  failingSince: v.optional(v.number()),
  /** Number of stages that had passed at that refusal; unknown if users have waited since before the rollback */
  failingAfter: v.optional(v.number()),
  /** Users stay on the new version. */
  refused: v.optional(refusedSchema),
  /** Writes are opened there without a proof. */
  unproved: v.optional(v.object({ to: v.string(), why: v.string() })),
});

/** Decisions about a rollback: they hold for every stage, and are kept when stages are repeated. */
export type Notes = v.InferOutput<typeof notesSchema>;

export function readNotes({ noted = {} }: RecordedJournal): Notes {
  return v.parse(notesSchema, noted);
}

/** Collection that a rollback takes users to */
export function findReturnCollection({ plan }: Pick<Run, 'plan'>, notes: Notes): string {
  return notes.unproved?.to ?? notes.plan?.returnTo ?? plan.sourceCollection;
}

export function addNotes(journal: RecordedJournal, notes: Notes): RecordedJournal {
  return { ...journal, noted: { ...journal.noted, ...notes } };
}

/** The first record of a rollback. Where one has failed before, writes are frozen already. */
export function beginRollback(notes: Notes): RecordedJournal {
  const begun = { ...NOTHING_RECORDED, noted: notes };
  return notes.failingSince === undefined ? begun : markFrozen(begun);
}

export function markFrozen({ passed, ...journal }: RecordedJournal): RecordedJournal {
  return { ...journal, passed: { ...passed, [FREEZING]: {} } };
}

/** Writes may have been opened since: repeats every stage except the freeze, beginning with the restore of a snapshot. */
export function beginAgain({ passed, noted = {} }: RecordedJournal): RecordedJournal {
  const { [FREEZING]: begun } = passed;
  return { passed: begun ? { [FREEZING]: begun } : {}, noted };
}

/** Facts of all passed stages */
export function collectFacts({ passed }: RecordedJournal): Facts {
  return Object.assign({}, ...Object.values(passed).map(({ found }) => found));
}

export function describeLateWrites(
  name: string,
  { writes, overruled, withheld }: LateWrites,
): Facts {
  if (writes === 0) return {};
  const facts = { [name]: writes, [`${name}Overruled`]: overruled };
  return withheld > 0 ? { ...facts, [`${name}Withheld`]: withheld } : facts;
}

/** How far a switch has come; undefined before its first stage. */
export async function readSwitch(
  { runs }: Pick<Services, 'runs'>,
  runId: string,
  step: 'cutover' | 'rollback',
): Promise<RecordedJournal | undefined> {
  return readSwitchJournal((await runs.readCheckpoint(runId, step))?.state);
}

const PARTS = [
  ['frozen', 'freeze'],
  ['backed-up', 'backup'],
  ['equal', 'copy'],
] as const;

/** Seconds that each repeatable part of a window took, to forecast the next window */
export function measureParts({ passed }: RecordedJournal): Record<string, number> {
  const took: Record<string, number> = {};
  let begun = 0;
  for (const [stage, part] of PARTS) {
    const end = passed[stage]?.workedMs;
    if (end === undefined) break;
    took[part] = (end - begun) / 1_000;
    begun = end;
  }
  return took;
}
