// The record of a run: small, without secrets or users' data; what is large is an artifact it refers to.
import * as v from 'valibot';
import { baseSchema } from '../base.ts';
import { EVIDENCE, type Evidence, EXTERNAL_ACTIONS, PHASES } from '../phases.ts';
import { Refusal, type RefusalData, type RefusalName } from '../refusals.ts';
import { upgradeReleasedRun } from './released-run.ts';

/** In names of collections and artifacts; therefore no white space, slashes or capitals. */
export const runIdSchema = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9][a-z0-9-]{2,38}[a-z0-9]$/),
  v.description('4 to 40 lowercase letters, digits or hyphens, no hyphen first or last'),
);

const millisecondsSchema = v.pipe(v.number(), v.safeInteger());
const shortText = v.pipe(v.string(), v.maxLength(512));

/** Location and digest of an artifact, and the few figures that decisions and people need of it */
export const referenceSchema = v.strictObject({
  artifact: shortText,
  /** SHA-256, hexadecimal. */
  digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  recordedAt: millisecondsSchema,
  facts: v.record(shortText, v.union([shortText, v.number(), v.boolean()])),
});

/** Schema of a count; the noun appears in its error messages. */
export function countOf(what: string) {
  const rule = `a whole number of ${what}, 0 or more`;
  return v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.description(rule));
}

export const bytesSchema = countOf('bytes');

export const ACCEPTABLE = [
  // All of the four that follow.
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
  // Endpoints that the memory backend does not have.
  'no-health',
  'no-chat',
  'no-stats',
] as const;

export const planSchema = v.strictObject({
  sourceCollection: shortText,
  targetCollection: shortText,
  /** The new collection is uploaded under this name at the cutover; without it, it keeps the one it was built under. */
  uploadAs: v.optional(shortText),
  /** There is no second collection to be filled: the new version is deployed on the old one. */
  inPlace: v.optional(v.boolean()),
  /** Aliases of the old collection are moved with the switch, and back with a rollback. */
  movesAliases: v.optional(v.boolean()),
  /** The backend runs the new version before the run begins: collection and slot change, and no version is deployed. */
  sameVersion: v.optional(v.boolean()),
  windowMinutes: numberBetween(1, 240),
  /** How long the new version takes to be deployed and tested, where the operator knows it. */
  deploySeconds: v.optional(numberBetween(0, 7200)),
  /** The longest request of the memory backend: so long after the freeze a write may still arrive. */
  drainSeconds: numberBetween(0, 900),
  // More days than a date can hold would only fail when the run goes live.
  retentionDays: v.pipe(
    numberBetween(30, 3650),
    v.integer(),
    v.description('a whole number from 30 to 3650'),
  ),
  /** Findings that would stop the run, and which the operator takes as they are. */
  accepts: v.array(v.picklist(ACCEPTABLE)),
  /** Free space of the vector store, as measured by the operator */
  freeBytes: v.optional(bytesSchema),
  /** True if the old collection is removed when the rollback period ends. */
  removesWhenOver: v.boolean(),
  /** The same of the backups; reports and record stay. */
  removesArtifactsWhenOver: v.optional(v.boolean(), false),
});

function numberBetween(min: number, max: number) {
  const rule = `a number from ${min} to ${max}`;
  return v.pipe(v.number(), v.minValue(min), v.maxValue(max), v.description(rule));
}

const progressSchema = v.strictObject({
  done: v.number(),
  total: v.number(),
  /** Points, where nothing else is said. */
  unit: v.optional(v.literal('bytes')),
  /** Since the step began, where it has come that far. */
  perSecond: v.optional(v.number()),
});

/** How far a step has come; written only after the work that it describes is durable. */
const checkpointSchema = v.strictObject({
  /** Resume point of the step; no other step reads it. */
  state: v.unknown(),
  progress: v.optional(progressSchema),
  /** Artifacts that the work done so far was based on. */
  inputs: v.optional(v.array(shortText)),
  /** How long the step has worked by then. */
  workedMs: v.optional(v.number()),
  savedAt: millisecondsSchema,
});

/** Action for a person to take and confirm: one at a time, and none if a webhook does it */
const pendingActionSchema = v.strictObject({
  action: v.picklist(EXTERNAL_ACTIONS),
  collection: shortText,
  since: millisecondsSchema,
  /** In which it became pending: no action becomes pending twice in one epoch. */
  epoch: v.pipe(v.number(), v.safeInteger()),
});

/** Enough to throw it again, later. */
export const refusedSchema = v.strictObject({
  name: v.custom<RefusalName>((name) => typeof name === 'string'),
  why: v.string(),
  data: v.custom<RefusalData>((data) => typeof data === 'object'),
});

export function toRefused({ name, why, data }: Refusal): NonNullable<Run['refused']> {
  return { name, why, data };
}

/** From the freeze on, until users are on the old version again: the next window begins with nothing of it. */
const windowSchema = v.strictObject({
  /** The window closes: the machine rolls back by itself. */
  deadlineAt: millisecondsSchema,
  /** Who opened it, having seen the report. */
  approvedBy: v.optional(shortText),
  /** Why it failed before traffic was opened: from then on it is rolled back. */
  failed: v.optional(refusedSchema),
  /** From then on the setting may name the new collection, and the new version may be deployed. */
  switchedAt: v.optional(millisecondsSchema),
  /** Aliases that are moved with the switch, as they were found before it */
  aliases: v.optional(v.array(v.string())),
  /** From then on users may have written to the new version. */
  openedAt: v.optional(millisecondsSchema),
  /** No rollback could be proved: users stay on the new version until a person begins another. */
  stays: v.optional(v.literal(true)),
  /** Until then rollback is possible; known once the run has been live. */
  retainUntil: v.optional(millisecondsSchema),
  /** It is over: what was kept for a rollback is being removed. */
  overAt: v.optional(millisecondsSchema),
});

const runSchema = v.strictObject({
  runId: runIdSchema,
  phase: v.picklist(PHASES),
  plan: planSchema,
  evidence: v.record(v.picklist(EVIDENCE), referenceSchema),
  startedAt: millisecondsSchema,
  /** The phases that it was in, and since when; the first ones of a run that has had many are left out. */
  history: v.array(v.strictObject({ phase: v.picklist(PHASES), at: millisecondsSchema })),
  /** How many seconds each step, and each stage of a window, took when it was last finished, without interruptions. */
  took: v.record(shortText, v.number()),
  /** Collections that users worked on and left: kept until then, also after an abort. */
  served: v.array(v.strictObject({ collection: shortText, until: millisecondsSchema })),
  /** Collections that are kept beyond their removal day: they alone hold certain writes. */
  kept: v.array(shortText),
  /** A collection of the name to upload to is the run's own. */
  hasUploaded: v.boolean(),
  window: v.optional(windowSchema),
  /** Results of the last window that is over */
  lastWindow: v.optional(v.record(v.picklist(EVIDENCE), referenceSchema)),
  pendingAction: v.optional(pendingActionSchema),
  /** In this phase something was said to be done and was not: from then on it is another request. */
  askedAgainAt: v.optional(millisecondsSchema),
  /** In place: what the collection had before the run, and an abort leaves. */
  hadBefore: v.optional(v.strictObject({ hasSlot: v.boolean(), hasCompanion: v.boolean() })),
  /** Progress of an optimizer that a step waits for. */
  optimizer: v.optional(
    v.strictObject({
      collection: shortText,
      done: v.number(),
      segments: v.number(),
      /** Time of the last progress. */
      since: millisecondsSchema,
      began: v.strictObject({ done: v.number(), at: millisecondsSchema }),
    }),
  ),
  /** In place: a change of named vectors under way, for which the optimizer is switched off. */
  slotChange: v.optional(
    v.strictObject({
      /** Threads that the optimizer had before; null where the store chooses. */
      threads: v.nullable(v.number()),
      /** Points of the collection right before the change. */
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
  /** Why the run only waits for its abort: its collections are not equal any more. */
  takesNoWindow: v.optional(shortText),
  /** Response time of the store when the copy began, in milliseconds */
  answerMs: v.optional(v.number()),
  /** Last common version of both collections */
  base: v.optional(baseSchema),
  /** The last command was refused: why, with its numbers. */
  refused: v.optional(refusedSchema),
});

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

/** When it came into its phase. */
export function phaseAtOf({ history, startedAt }: Pick<Run, 'history' | 'startedAt'>): number {
  return history.at(-1)?.at ?? startedAt;
}

type Windowed = Pick<Run, 'window'>;

/** @throws Refusal where the run has opened none */
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

/** True if the switch has finished. */
export function wentLive({ window }: Windowed): boolean {
  return window?.retainUntil !== undefined;
}

/** Memories that both collections had when they were last verified as equal; before, those of the backup; 0 without one */
export function countVerified({ evidence }: Pick<Run, 'evidence'>): number {
  const { 'verification-report': verified, 'backup-manifest': backedUp } = evidence;
  return Number((verified ?? backedUp)?.facts.points ?? 0);
}

/**
 * A step that is repeated in the phase it leads to does not change when the run entered the phase.
 * Actions that were asked for in another phase are no longer asked for.
 */
export function enterPhase(run: Run, phase: Run['phase'], now: Date): Run {
  const { refused, ...repeated } = run;
  if (run.phase === phase) return repeated;
  const {
    pendingAction: _,
    askedAgainAt: __,
    ...rest
  } = phase === 'copied' ? leaveWindow(repeated) : repeated;
  const history = [...run.history, { phase, at: now.getTime() }].slice(-MAX_HISTORY);
  // Why the run returns is said until it goes on.
  const begins = run.phase === 'switching' && phase === 'switching-back';
  const isReturning = begins || run.phase === 'switching-back';
  const why = isReturning && refused ? { refused } : {};
  return { ...rest, ...why, phase, history };
}

const MAX_HISTORY = 100;

/** Facts about a window that is over do not apply to the next one. */
function leaveWindow(run: Run): Run {
  const { window: _, ...left } = run;
  const { over = [], stays = [] } = Object.groupBy(Object.entries(run.evidence), ([kind]) =>
    OF_A_WINDOW.includes(kind as Evidence) ? 'over' : 'stays',
  );
  const lastWindow = over.length > 0 ? { lastWindow: Object.fromEntries(over) } : {};
  return { ...left, ...lastWindow, evidence: Object.fromEntries(stays) };
}

// The backup of the window stays: the next one makes another.
const OF_A_WINDOW: readonly Evidence[] = ['verification-report', 'cutover-report'];

/** True for a run without a lock that still has something to be removed one day. */
export function retainedAs({ phase }: Pick<Run, 'phase'>) {
  if (phase === 'live') return 'live';
  return phase === 'aborted' ? 'left' : undefined;
}

/** Beside those that are kept already. @param until when */
export function withServed({ served }: Run, collections: readonly string[], until: number) {
  const others = served.filter(({ collection }) => !collections.includes(collection));
  return [...others, ...collections.map((collection) => ({ collection, until }))];
}

/** A value is stored as JSON, and written and read through this schema alone. */
function defineStored<Output>(
  schema: v.GenericSchema<unknown, Output>,
  maxBytes: number,
  upgrade = (stored: unknown) => stored,
) {
  function parse(value: unknown): Output {
    const result = v.safeParse(schema, value);
    if (result.success) return result.output;
    const path = v.getDotPath(result.issues[0]) ?? 'whole';
    throw new Refusal('RefusedDefect', `A record cannot hold this as its ${path}.`);
  }

  return {
    /** @throws Refusal for anything else */
    read: (text: unknown): Output => parse(upgrade(JSON.parse(String(text)))),
    /** @throws Refusal for anything else, or more than that */
    write(value: unknown): string {
      const text = JSON.stringify(parse(value));
      const bytes = Buffer.byteLength(text);
      if (bytes <= maxBytes) return text;
      throw new Refusal('RefusedDefect', `${bytes} bytes are too many to record.`);
    },
  };
}

// The table would take 400 KB. A step reads its checkpoint alone; the record also comes to the state machine, as the
// status, whose states carry 256 KB and beside it the failure of a step.
export const STORED_RUN = defineStored(runSchema, 64 * 1024, upgradeReleasedRun);
export const STORED_CHECKPOINT = defineStored(checkpointSchema, 256 * 1024);
