// Reads checkpoints that were stored before steps had journals, so that a step in progress resumes from its own. Needed until no
// backup, rebuild, copy, upload or restore that began so is left: docs/migration/decisions/0012-journal.md says when.
import * as v from 'valibot';
import type { BaseProgress } from '../base.ts';
import { keptSnapshotSchema, partsSchema, snapshotSchema } from '../kept-snapshot.ts';
import type { PointId } from '../ports/vector-store.ts';
import { NOTHING_COMPARED } from '../reconcile-report.ts';
import { journalSchema, type RecordedJournal } from '../runs/journal.ts';
import { graphDumpSchema } from '../runs/reports.ts';
import { referenceSchema } from '../runs/run.ts';
import { contentsSchema } from '../scan.ts';
import type { Services } from '../services.ts';
import { equalisingEntries } from './equalise.ts';
import { fillSchema } from './in-place.ts';

const restoringSchema = v.object({
  upload: v.optional(v.number()),
  isUploaded: v.optional(v.boolean()),
  seen: v.optional(v.object({ points: v.optional(v.number()), at: v.number() })),
  restored: v.optional(v.number()),
});

const requestSchema = v.object({ at: v.number(), accepted: v.optional(v.nullable(v.number())) });

const snapshotEntries = {
  taking: v.optional(
    v.object({
      known: v.optional(v.array(v.string())),
      requests: v.optional(v.array(requestSchema), []),
      snapshot: v.optional(snapshotSchema),
      parts: v.optional(partsSchema),
      kept: v.optional(keptSnapshotSchema),
    }),
    {},
  ),
  restoring: v.optional(restoringSchema, {}),
};

const backupSchema = v.object({
  ...snapshotEntries,
  listing: v.optional(
    v.object({
      isComplete: v.boolean(),
      nextOffset: v.nullable(v.custom<PointId>((id) => typeof id === 'string')),
      progress: v.optional(v.custom<BaseProgress>((progress) => typeof progress === 'object')),
    }),
    { isComplete: false, nextOffset: null },
  ),
  counted: v.optional(v.object({ contents: contentsSchema, counts: referenceSchema })),
  isRemoved: v.optional(v.boolean()),
  dumped: v.optional(v.object({ prefix: v.string(), kind: graphDumpSchema.entries.kind })),
  graph: v.optional(graphDumpSchema),
});

const uploadSchema = v.object({ ...snapshotEntries, isProved: v.optional(v.boolean(), false) });

const rebuildSchema = v.object({
  isCleared: v.optional(v.boolean()),
  made: v.optional(v.picklist(['by-new-version', 'explicitly'])),
  isProved: v.optional(v.boolean()),
  embeddings: v.optional(v.picklist(['proved', 'unverified'])),
});

/** The walk of the first copy, or the one that compares, with what followed once it had ended */
const copySchema = v.object({
  ...equalisingEntries,
  mode: v.picklist(['fill', 'repair']),
  perSecond: v.optional(v.number()),
  entities: v.optional(v.unknown()),
  parity: v.optional(v.unknown()),
});

interface StoredStage {
  readonly stage: string;
  /** Undefined unless the stage has passed */
  readonly found: unknown;
  readonly cursor?: unknown;
}

/** The current stage is the first that has a cursor and has not passed. */
function toJournal(stages: readonly StoredStage[]): RecordedJournal {
  const passed = stages.filter(({ found }) => found !== undefined);
  const open = stages.find(({ found, cursor }) => found === undefined && cursor !== undefined);
  return {
    passed: Object.fromEntries(passed.map(({ stage, found }) => [stage, { found }])),
    ...(open && { open: { stage: open.stage, cursor: open.cursor } }),
  };
}

function readJournal<Stored>(
  schema: v.GenericSchema<unknown, Stored>,
  listStages: (stored: Stored) => readonly StoredStage[],
) {
  /** Undefined for the checkpoint of another stage, or of none. */
  return (recorded: unknown): RecordedJournal | undefined => {
    if (v.is(journalSchema, recorded)) return recorded;
    const stored = v.safeParse(schema, recorded);
    return stored.success ? toJournal(listStages(stored.output)) : undefined;
  };
}

export const readBackupJournal = readJournal(backupSchema, (backup) => {
  const { listing, counted, isRemoved, dumped, graph } = backup;
  const { isComplete, nextOffset, progress } = listing;
  const isBegun = nextOffset !== null && progress !== undefined;
  return [
    {
      stage: 'listed',
      found: isComplete ? progress : undefined,
      cursor: isBegun ? { listing: progress, nextOffset } : undefined,
    },
    ...listSnapshotStages(backup),
    { stage: 'counted', found: counted },
    { stage: 'proof-removed', found: isRemoved },
    { stage: 'graph-dumped', found: dumped },
    { stage: 'graph-read-back', found: graph },
  ];
});

export const readRebuildJournal = readJournal(
  rebuildSchema,
  ({ isCleared, made, isProved, embeddings }) => [
    { stage: 'earlier-removed', found: isCleared },
    { stage: 'made', found: made },
    { stage: 'configured', found: made && true },
    { stage: 'hybrid-proved', found: isProved || undefined },
    { stage: 'embeddings', found: embeddings },
  ],
);

export const readUploadJournal = readJournal(v.record(v.string(), uploadSchema), (uploads) =>
  Object.entries(uploads).map(([name, upload]) => ({
    stage: name,
    found: upload.isProved || undefined,
    cursor: toJournal(listSnapshotStages(upload)),
  })),
);

/** In place it is the walk alone. */
export const readCopyJournal = readJournal(v.union([copySchema, fillSchema]), (stored) => {
  if (!('mode' in stored)) {
    return [{ stage: 'keywords-filled', found: undefined, cursor: stored }];
  }
  const { mode, perSecond, entities, parity, ...walk } = stored;
  const isCompared = mode === 'repair' && walk.reached?.isComplete === true;
  return [
    { stage: 'filled', found: mode === 'repair' ? NOTHING_COMPARED : undefined, cursor: walk },
    {
      stage: 'compared',
      found: isCompared ? { report: walk.reached?.report, perSecond } : undefined,
      cursor: walk,
    },
    { stage: 'entities-equal', found: parity && true, cursor: entities },
    { stage: 'searched', found: undefined, cursor: parity },
  ];
});

/** A restore that had begun had been found necessary. */
export const readRestoreJournal = readJournal(restoringSchema, (restoring) => [
  { stage: 'is-to-be-restored', found: true },
  listRestoreStage(restoring),
]);

const switchSchema = v.object({
  to: v.string(),
  passed: v.record(
    v.string(),
    v.object({ workedMs: v.number(), facts: v.record(v.string(), v.unknown()) }),
  ),
  reached: v.optional(v.unknown()),
  plan: v.optional(v.unknown()),
  failingSince: v.optional(v.unknown()),
  refused: v.optional(v.unknown()),
  unproved: v.optional(v.string()),
});

/**
 * Undefined before the first checkpoint. An unreadable one is not undefined: users may be on either version, and a rollback that
 * took it for the beginning would only open writes. @throws ValiError
 */
export function readSwitchJournal(recorded: unknown): RecordedJournal | undefined {
  if (recorded === undefined) return undefined;
  const { success, output: stored } = v.safeParse(switchSchema, recorded);
  if (!success) return v.parse(journalSchema, recorded);
  const { to, plan, failingSince, refused, unproved: why } = stored;
  const passed = Object.entries(stored.passed).map(
    ([stage, { workedMs, facts: found }]) => [stage, { workedMs, found }] as const,
  );
  const stage = findOpenStage(stored);
  const cursor = readCursor(stage, stored.reached);
  return {
    passed: Object.fromEntries(passed),
    ...(stage && cursor !== undefined && { open: { stage, cursor } }),
    noted: { plan, failingSince, refused, ...(why !== undefined && { unproved: { to, why } }) },
  };
}

/** How far a switch has come; undefined before its first stage. */
export async function readSwitch(
  { runs }: Pick<Services, 'runs'>,
  runId: string,
  step: 'cutover' | 'rollback',
): Promise<RecordedJournal | undefined> {
  return readSwitchJournal((await runs.readCheckpoint(runId, step))?.state);
}

/** The stages that have a cursor, by the last one before them that has passed */
const NEXT_STAGES: Readonly<Record<string, string>> = {
  none: 'frozen',
  freezing: 'frozen',
  frozen: 'equal',
  'backed-up': 'equal',
  equal: 'entities-equal',
  prepared: 'uploaded',
  'setting-changed': 'deployed',
  'last-look': 'carried',
  opened: 'carried',
  'setting-restored': 'deployed-again',
};

function findOpenStage({ passed, plan }: v.InferOutput<typeof switchSchema>): string | undefined {
  if (v.is(restoringPlanSchema, plan) && !('restored' in passed)) return 'restored';
  const last = Object.keys(passed).at(-1) ?? 'none';
  // A cutover has no plan, and backs up what a rollback does not.
  return last === 'frozen' && plan === undefined ? 'backed-up' : NEXT_STAGES[last];
}

const restoringPlanSchema = v.object({ restores: v.object({}) });

function readCursor(stage: string | undefined, reached: unknown): unknown {
  if (stage === 'backed-up') return readBackupJournal(reached);
  if (stage === 'uploaded') return readUploadJournal(reached);
  return stage === 'restored' ? readRestoreJournal(reached) : reached;
}

function listSnapshotStages({
  taking: { known, requests, snapshot, parts, kept },
  restoring,
}: Pick<v.InferOutput<typeof uploadSchema>, 'taking' | 'restoring'>): StoredStage[] {
  const asked = known && { known, requests };
  return [
    { stage: 'snapshot-made', found: snapshot && { ...asked, snapshot }, cursor: asked },
    { stage: 'snapshot-kept', found: kept?.parts, cursor: parts },
    { stage: 'snapshot-intact', found: kept },
    listRestoreStage(restoring),
  ];
}

function listRestoreStage({
  upload,
  isUploaded: isSent,
  seen,
  restored,
}: v.InferOutput<typeof restoringSchema>): StoredStage {
  const sent = isSent !== undefined && seen && { isSent, at: seen.at };
  const stages = toJournal([
    { stage: 'name-cleared', found: upload },
    { stage: 'snapshot-sent', found: sent || undefined },
    { stage: 'readable', found: undefined, cursor: seen },
  ]);
  const cursor = upload === undefined ? undefined : stages;
  return { stage: 'restored', found: restored, cursor };
}
