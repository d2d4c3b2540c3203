// The record of a run: small, without secrets or users' data. The record refers to artifacts, which contain large data.
import * as v from 'valibot';
import { baseSchema } from '../base.ts';
import { EVIDENCE, type Evidence, EXTERNAL_ACTIONS, PHASES } from '../phases.ts';
import { Refusal, type RefusalData, type RefusalName } from '../refusals.ts';
import { upgradeReleasedRun } from './released-run.ts';

/** Part of the names of collections and artifacts; therefore without white space, slashes or capitals */
export const runIdSchema = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9][a-z0-9-]{2,38}[a-z0-9]$/),
  v.description('4 to 40 lowercase letters, digits or hyphens, no hyphen first or last'),
);

const millisecondsSchema = v.pipe(v.number(), v.safeInteger());
const shortText = v.pipe(v.string(), v.maxLength(512));

/** Location and digest of an artifact, and the few of its figures that decisions and people need */
export const referenceSchema = v.strictObject({
  artifact: shortText,
  /** SHA-256, hexadecimal */
  digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  recordedAt: millisecondsSchema,
  facts: v.record(shortText, v.union([shortText, v.number(), v.boolean()])),
});

/** Schema of a count; the noun appears in its error messages. */
export function countSchemaFor(noun: string) {
  const rule = `a whole number of ${noun}, 0 or more`;
  return v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.description(rule));
}

export const bytesSchema = countSchemaFor('bytes');

export const ACCEPTABLE = [
  // Accepts all of the next four
  'unreachable-users',
  'no-owner',
  'camel-case-ids',
  'ids-not-text',
  'ids-with-space',
  'expired-memories',
  'empty-keywords',
  'no-graph',
  'empty-graph',
  'unknown-space',
  'other-storage',
  'search-parity',
  'aliases',
  // Endpoints that the memory backend lacks
  'no-health',
  'no-chat',
  'no-stats',
] as const;

export const planSchema = v.strictObject({
  sourceCollection: shortText,
  targetCollection: shortText,
  /** Name under which the new collection is uploaded at the cutover; without it, the collection keeps its name. */
  uploadAs: v.optional(shortText),
  /** The new version is deployed on the old collection; there is no second collection. */
  inPlace: v.optional(v.boolean()),
  /** The switch moves aliases of the old collection, and a rollback moves them back. */
  movesAliases: v.optional(v.boolean()),
  /** The backend runs the new version before the run begins: only collection and slot change. */
  sameVersion: v.optional(v.boolean()),
  windowMinutes: numberBetween(1, 240),
  /** Time for deploying and testing the new version, if the operator knows it */
  deploySeconds: v.optional(numberBetween(0, 7200)),
  /** Longest request of the memory backend: a write may still arrive this long after the freeze. */
  drainSeconds: numberBetween(0, 900),
  // Without a limit, a number too large for a date would fail only when the run goes live.
  retentionDays: v.pipe(
    numberBetween(30, 3650),
    v.integer(),
    v.description('a whole number from 30 to 3650'),
  ),
  /** Findings that would stop the run, but that the operator accepts */
  accepts: v.array(v.picklist(ACCEPTABLE)),
  /** Free space of the vector store, as measured by the operator */
  freeBytes: v.optional(bytesSchema),
  /** True if the old collection is removed when the rollback period ends. */
  removesWhenOver: v.boolean(),
  /** True if the backups are removed at that time, too; reports and record are kept. */
  removesArtifactsWhenOver: v.optional(v.boolean(), false),
});

function numberBetween(min: number, max: number) {
  const rule = `a number from ${min} to ${max}`;
  return v.pipe(v.number(), v.minValue(min), v.maxValue(max), v.description(rule));
}

const progressSchema = v.strictObject({
  done: v.number(),
  total: v.number(),
  /** Points by default */
  unit: v.optional(v.literal('bytes')),
  /** Average since the invocation began; absent until the step has advanced */
  perSecond: v.optional(v.number()),
});

/** Progress of a step; written only after the work that it describes is durable */
const checkpointSchema = v.strictObject({
  /** Journal of the step, or the cursor at which the step resumes */
  state: v.unknown(),
  progress: v.optional(progressSchema),
  /** Artifacts that the work so far is based on */
  inputs: v.optional(v.array(shortText)),
  /** Time that the step had worked before the checkpoint was saved */
  workedMs: v.optional(v.number()),
  savedAt: millisecondsSchema,
});

/** Action that a person has to carry out and confirm; absent if a webhook carries it out */
const pendingActionSchema = v.strictObject({
  action: v.picklist(EXTERNAL_ACTIONS),
  collection: shortText,
  since: millisecondsSchema,
  /** Epoch in which the action became pending: no action becomes pending twice in one epoch. */
  epoch: v.pipe(v.number(), v.safeInteger()),
});

/** A refusal, recorded so that it can be thrown again later */
export const refusedSchema = v.strictObject({
  name: v.custom<RefusalName>((name) => typeof name === 'string'),
  why: v.string(),
  data: v.custom<RefusalData>((data) => typeof data === 'object'),
});

export function toStoredRefusal({ name, why, data }: Refusal): NonNullable<Run['refused']> {
  return { name, why, data };
}

/**
 * The window, from the freeze until users are on the old version again; none of this applies to the next window. The window is not
 * in a step's journal, because next.ts, the watch and the status read it after the journal has been deleted.
 */
const windowSchema = v.strictObject({
  /** Time at which the window closes, and the state machine rolls back by itself */
  deadlineAt: millisecondsSchema,
  /** Person who opened the window, having seen the report */
  approvedBy: v.optional(shortText),
  /** Digest of the approved report; the window replaces the report in the evidence. */
  approvedReport: v.optional(shortText),
  /** Why the window failed before traffic was opened; the run then rolls back. */
  failed: v.optional(refusedSchema),
  /** Since this time, the setting may name the new collection, and the new version may be deployed. */
  switchedAt: v.optional(millisecondsSchema),
  /** Aliases found before the switch, which moves them */
  aliases: v.optional(v.array(v.string())),
  /** Since this time, users may have written to the new version. */
  openedAt: v.optional(millisecondsSchema),
  /** No rollback could be proved: users stay on the new version until a person begins another rollback. */
  stays: v.optional(v.literal(true)),
  /** End of the rollback period; known once the run has been live */
  retainUntil: v.optional(millisecondsSchema),
  /** Time at which the rollback period ended, and the removal of what was kept for a rollback began */
  overAt: v.optional(millisecondsSchema),
});

const acceptedLossSchema = v.strictObject({
  acknowledgedLoss: v.optional(countSchemaFor('writes')),
  deletes: v.optional(countSchemaFor('points')),
});

const runSchema = v.strictObject({
  runId: runIdSchema,
  phase: v.picklist(PHASES),
  plan: planSchema,
  evidence: v.record(v.picklist(EVIDENCE), referenceSchema),
  startedAt: millisecondsSchema,
  /** Phases of the run, and when each began; the earliest are dropped if there are many. */
  history: v.array(v.strictObject({ phase: v.picklist(PHASES), at: millisecondsSchema })),
  /** Seconds that each step, and each stage of a window, last took, without interruptions */
  took: v.record(shortText, v.number()),
  /** Collections that users worked on before, each kept until a time, even after an abort */
  served: v.array(v.strictObject({ collection: shortText, until: millisecondsSchema })),
  /** Collections kept beyond their removal date, because they alone hold certain writes */
  kept: v.array(shortText),
  /** True if the collection named by `uploadAs` is the run's own */
  hasUploaded: v.boolean(),
  window: v.optional(windowSchema),
  /** Losses that the operator accepted for the step under way: a call that continues the step need not repeat them. */
  accepted: v.optional(acceptedLossSchema),
  /** Evidence from the last window that has ended */
  lastWindow: v.optional(v.record(v.picklist(EVIDENCE), referenceSchema)),
  pendingAction: v.optional(pendingActionSchema),
  /** Part of a request's identity since a person asked again, so that a webhook acts instead of repeating its earlier response */
  askedAgainAt: v.optional(millisecondsSchema),
  /** In place: parts that the collection had before the run, and that an abort keeps */
  hadBefore: v.optional(v.strictObject({ hasSlot: v.boolean(), hasCompanion: v.boolean() })),
  /** Progress of an optimizer that a step waits for */
  optimizer: v.optional(
    v.strictObject({
      collection: shortText,
      done: v.number(),
      segments: v.number(),
      /** Time of the last progress */
      since: millisecondsSchema,
      began: v.strictObject({ done: v.number(), at: millisecondsSchema }),
    }),
  ),
  /** In place: a change of named vectors in progress, during which the optimizer is switched off */
  slotChange: v.optional(
    v.strictObject({
      /** Threads that the optimizer had before; null if the store chooses */
      threads: v.nullable(v.number()),
      /** List of the collection's points right before the change */
      listed: v.optional(
        v.strictObject({
          artifact: shortText,
          points: v.number(),
          at: millisecondsSchema,
          /** Number of the last write before the list; null in a collection of several shards. */
          position: v.nullable(v.number()),
        }),
      ),
    }),
  ),
  /** Why the run can only be aborted: its collections are no longer equal. */
  takesNoWindow: v.optional(shortText),
  /** Response time of the store when the copy began, in milliseconds */
  answerMs: v.optional(v.number()),
  /** Last common version of both collections */
  base: v.optional(baseSchema),
  /** Why the last command was refused */
  refused: v.optional(refusedSchema),
});

type AcceptedLoss = v.InferOutput<typeof acceptedLossSchema>;
export type Reference = v.InferOutput<typeof referenceSchema>;
export type Plan = v.InferOutput<typeof planSchema>;
export type Run = v.InferOutput<typeof runSchema>;
export type Window = v.InferOutput<typeof windowSchema>;
export type Progress = v.InferOutput<typeof progressSchema>;
export type Checkpoint = v.InferOutput<typeof checkpointSchema>;

export function newRun(
  { runId, plan, evidence }: Pick<Run, 'runId' | 'plan' | 'evidence'>,
  now: Date,
): Run {
  const at = now.getTime();
  return {
    runId,
    phase: 'checked',
    plan,
    evidence,
    startedAt: at,
    history: [{ phase: 'checked', at }],
    took: {},
    served: [],
    kept: [],
    hasUploaded: false,
  };
}

/** Time at which the run entered its phase */
export function phaseSince({ history, startedAt }: Pick<Run, 'history' | 'startedAt'>): number {
  return history.at(-1)?.at ?? startedAt;
}

type Windowed = Pick<Run, 'window'>;

/** @throws Refusal if the run is in no window */
export function windowOf({ window }: Windowed): Window {
  if (window) return window;
  throw new Refusal('RefusedDefect', 'The run is in no window.');
}

/** True if the setting may name the new collection. */
export function hasSwitched({ window }: Windowed): boolean {
  return window?.switchedAt !== undefined;
}

/** True if users may have written to the new version. */
export function wasOpened({ window }: Windowed): boolean {
  return window?.openedAt !== undefined;
}

/** Why the window failed. Once users may be on the new version, a failed step is repeated instead. */
export function findFailure(run: Pick<Run, 'phase' | 'window'>): Run['refused'] {
  return run.phase === 'switching' && !wasOpened(run) ? run.window?.failed : undefined;
}

/** True if the switch has finished. */
export function wentLive({ window }: Windowed): boolean {
  return window?.retainUntil !== undefined;
}

/** Memories in both collections when they were last verified as equal; until then those in the backup, if there is one */
export function countVerified({ evidence }: Pick<Run, 'evidence'>): number {
  const { 'verification-report': verified, 'backup-manifest': backedUp } = evidence;
  return Number((verified ?? backedUp)?.facts.points ?? 0);
}

/**
 * Returns the run in the given phase, without the last refusal and the losses accepted for the step that ends. Only a change of
 * phase is added to the history, and drops the pending action.
 */
export function enterPhase(run: Run, phase: Run['phase'], now: Date): Run {
  const { refused, accepted: _, ...cleared } = run;
  if (run.phase === phase) return cleared;
  const {
    pendingAction: __,
    askedAgainAt: ___,
    ...entered
  } = phase === 'copied' ? leaveWindow(cleared) : cleared;
  const history = [...run.history, { phase, at: now.getTime() }].slice(-MAX_HISTORY);
  // The reason for a rollback is kept until the rollback is done.
  const beginsRollback = run.phase === 'switching' && phase === 'switching-back';
  const isReturning = beginsRollback || run.phase === 'switching-back';
  const keptRefusal = isReturning && refused ? { refused } : {};
  return { ...entered, ...keptRefusal, phase, history };
}

/** Records the losses that the operator accepts. */
export function acceptLosses(run: Run, { acknowledgedLoss, deletes }: AcceptedLoss): Run {
  const losses = {
    ...(acknowledgedLoss !== undefined && { acknowledgedLoss }),
    ...(deletes !== undefined && { deletes }),
  };
  const isEmpty = Object.keys(losses).length === 0;
  return isEmpty ? run : { ...run, accepted: { ...run.accepted, ...losses } };
}

const MAX_HISTORY = 100;

/** Drops facts about the ended window: they do not apply to the next window. */
function leaveWindow(run: Run): Run {
  const { window: _, ...runWithoutWindow } = run;
  const { ended = [], lasting = [] } = Object.groupBy(Object.entries(run.evidence), ([kind]) =>
    WINDOW_EVIDENCE.includes(kind as Evidence) ? 'ended' : 'lasting',
  );
  const lastWindow = ended.length > 0 ? { lastWindow: Object.fromEntries(ended) } : {};
  return { ...runWithoutWindow, ...lastWindow, evidence: Object.fromEntries(lasting) };
}

// The backup from the window is not dropped: it is replaced when the next window takes another.
const WINDOW_EVIDENCE: readonly Evidence[] = ['verification-report', 'cutover-report'];

/** Names the list in which the lock keeps a run that has released it; undefined for a run without anything to remove later */
export function retainedAs({ phase }: Pick<Run, 'phase'>) {
  if (phase === 'live') return 'live';
  return phase === 'aborted' ? 'left' : undefined;
}

/** Adds collections that users have worked on. @param until the time until which they are kept */
export function addServed({ served }: Run, collections: readonly string[], until: number) {
  const otherCollections = served.filter(({ collection }) => !collections.includes(collection));
  return [...otherCollections, ...collections.map((collection) => ({ collection, until }))];
}

/** Reads and writes a value as JSON, always through its schema. */
function defineStored<Output>(
  schema: v.GenericSchema<unknown, Output>,
  maxBytes: number,
  upgrade = (stored: unknown) => stored,
) {
  function parse(value: unknown): Output {
    const result = v.safeParse(schema, value);
    if (result.success) return result.output;
    const path = v.getDotPath(result.issues[0]) ?? 'contents';
    throw new Refusal('RefusedDefect', `A record cannot have this as its ${path}.`);
  }

  return {
    /** @throws Refusal for a value that does not match the schema */
    read: (text: unknown): Output => parse(upgrade(JSON.parse(String(text)))),
    /** @throws Refusal for a value that does not match the schema, or is too long */
    write(value: unknown): string {
      const text = JSON.stringify(parse(value));
      const bytes = Buffer.byteLength(text);
      if (bytes <= maxBytes) return text;
      throw new Refusal('RefusedDefect', `${bytes} bytes are too many to record.`);
    },
  };
}

// DynamoDB allows 400 KB for an item. The record has a lower limit, because it is also part of the status, which the state machine
// passes on together with a step's failure, in at most 256 KB.
export const STORED_RUN = defineStored(runSchema, 64 * 1024, upgradeReleasedRun);
export const STORED_CHECKPOINT = defineStored(checkpointSchema, 256 * 1024);
