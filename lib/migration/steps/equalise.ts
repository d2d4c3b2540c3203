// Makes two collections have the same contents: in every copy, in the window, in a rollback, and where late writes are carried
// over. It compares both first: a mistake in one collection, such as emptying it, must not be repeated in the other.
import * as v from 'valibot';
import type { Base, BaseAccess } from '../base.ts';
import { assertExpected, type Changes, expectedLimit, isExcessive } from '../mass-change.ts';
import type { PointPair } from '../pairs.ts';
import { chooseCopySettings } from '../point-writer.ts';
import { writeJson } from '../ports/artifacts.ts';
import type { ScrolledPoint } from '../ports/vector-store.ts';
import { RECONCILE_START, type ReconcileCheckpoint, reconcile, startAfter } from '../reconcile.ts';
import {
  type LateWrites,
  listPending,
  listProblems,
  NOTHING_COMPARED,
  type ReconcileReport,
} from '../reconcile-report.ts';
import { isRefusal, Refusal } from '../refusals.ts';
import type { ReconcileSettings } from '../resolver.ts';
import { type Facts, outOfTime } from '../runs/journal.ts';
import { testUserOf } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import { COMPARING_START, type Comparing, compareFrom, type Tally } from './comparison.ts';

const walkSchema = v.optional(v.custom<ReconcileCheckpoint>(() => true));
const flagSchema = v.optional(v.boolean());

/** Resume point of `equalise` */
const equalisingEntries = {
  /** The comparison, which writes nothing */
  compared: v.optional(v.custom<Comparing>(() => true)),
  /** The walk that writes */
  reached: walkSchema,
  /** True if this walk only inserts, however many invocations it takes */
  insertsOnly: flagSchema,
  /** Earlier versions stored this result of the comparison alone. */
  isDamaged: flagSchema,
};

const equalisingSchema = v.object(equalisingEntries);

export type Equalising = v.InferOutput<typeof equalisingSchema>;

const earlierSchemas = {
  rollback: v.object({ ...equalisingEntries, written: v.custom<ReconcileCheckpoint>(Boolean) }),
  entities: v.looseObject({ isComplete: v.boolean(), insertsOnly: flagSchema }),
};

/**
 * Also reads what earlier versions stored: a rollback's walk as `written`, that of entities beside its flags, and a comparison as
 * a walk that writes nothing.
 */
export function readEqualising(stored: unknown): Equalising {
  const { compared, ...rest } = readEntries(stored);
  const tallied = compared && ('tally' in compared ? compared : readComparing(compared));
  return { ...rest, ...(tallied && { compared: tallied }) };
}

/** One that had not ended begins again. */
function readComparing({ isComplete, report }: ReconcileCheckpoint): Comparing | undefined {
  const { pending, to, strays } = report;
  const { lacking, changed, writes: written } = strays;
  const tally = {
    ...COMPARING_START.tally,
    points: to.points,
    adds: pending.missing,
    removes: pending.extra,
    changes: pending.payload + pending.vector,
    late: { written, lacking, changed, examples: [] },
  };
  return isComplete ? { next: null, isComplete, tally } : undefined;
}

function readEntries(stored: unknown): Equalising {
  if (v.is(earlierSchemas.rollback, stored)) {
    const { written, ...rest } = stored;
    return { ...rest, reached: written };
  }
  if (v.is(earlierSchemas.entities, stored)) {
    const { insertsOnly, ...reached } = stored;
    return { reached: reached as unknown as ReconcileCheckpoint, insertsOnly };
  }
  return v.parse(equalisingSchema, stored ?? {});
}

export interface EqualiseOptions {
  /** Collection that users are on; its version is right where nothing else is known */
  readonly active: string;
  readonly standby: string;
  /**
   * Last common version. continued: it decides which side has changed a memory, and the next one is written. begun: the next one
   * is written, as a restored snapshot is older than the last one. Without either, the active version is right.
   */
  readonly base?: 'continued' | 'begun' | undefined;
  /** True if a user made that change to the standby collection */
  readonly isOfUser?: ReconcileSettings['isOfUser'];
  /** The store takes no writes to the active collection: the standby one's changes are left where they are. */
  readonly isActiveReadOnly?: boolean;
  /** Names the walk: two of one invocation may begin a batch with the same memory. */
  readonly walk: string;
  /** frozen: both must be equal afterwards. writing: what differs still is left to a later walk. */
  readonly users: 'frozen' | 'writing';
  /**
   * If more of the standby collection would be removed or changed than expected: refuse before anything is, or insert what is
   * missing and leave the rest. write: it never served, so there is no limit.
   */
  readonly onExcess: 'refuse' | 'insert' | 'write';
  /** Limit given by the operator */
  readonly deletes?: number | undefined;
  /** fill: nothing is read back. carry: only what the standby has changed is written, to the active collection. */
  readonly mode?: 'repair' | 'fill' | 'carry';
  /**
   * Changes that are limited besides removals; those of payloads by default. vectors: those of payloads and vectors, as the
   * active version may have embedded its memories with another model.
   */
  readonly limitedChanges?: 'none' | 'payloads' | 'vectors';
}

export interface Equalised {
  readonly report: ReconcileReport;
  /** Differences that `users` and `onExcess` do not allow; empty without them */
  readonly faults: readonly string[];
}

/**
 * Goes on from the cursor of its stage, which is its own.
 * @throws Paused when time is up; Refusal if it would remove or change more than expected
 */
export async function equalise(context: StepContext, options: EqualiseOptions): Promise<Equalised> {
  const { standby, onExcess, deletes, mode = 'repair' } = options;
  const reached = readEqualising(context.cursor);
  const settings = await readSettings(context, options);
  const { walk, compareBoth, compareAgain } = createWalks(context, settings, {
    ...options,
    reached,
  });
  const compared = needsComparison(context, { ...options, reached })
    ? await compareBoth()
    : reached.compared;
  if (compared && !compared.isComplete) throw outOfTime();
  const found = compared?.tally;
  const changes = found && limitChanges(found, options);
  const isExcess = changes !== undefined && isExcessive(changes, deletes);
  if (changes && !hasBegun(reached)) {
    if (isExcess && onExcess === 'refuse') {
      await compareAgain();
      assertExpected(changes, standby, deletes);
    }
    if (options.limitedChanges === 'vectors' && isAsCommon(context, found)) {
      const to = { ...NOTHING_COMPARED.to, points: found.points };
      return { report: { ...NOTHING_COMPARED, compared: found.points, to }, faults: [] };
    }
  }
  const mayInsert = onExcess === 'insert';
  const { insertsOnly = mayInsert && isExcess } = reached;
  const { isDamaged = found !== undefined && isDamage(found) } = reached;
  const guards = { isDamaged, ...(await readLimits(context, options)) };
  const { isComplete, report } = await walk(insertsOnly ? 'insert' : mode, guards).catch(
    (error: unknown) => {
      if (!mayInsert || !isRefusal(error, 'RefusedMassChange')) throw error;
      return walk('insert', guards, { fromStart: true });
    },
  );
  if (!isComplete) throw outOfTime();
  const faults = listFaults(report, options);
  if (faults.length > 0) await compareAgain();
  return { report, faults };
}

interface Resuming {
  readonly reached: Equalising;
}

/** False if there is nothing that the walk could spoil, or if it has begun: it has changed the collection itself. */
function needsComparison(
  context: StepContext,
  { reached, ...options }: EqualiseOptions & Resuming,
): boolean {
  const mayLose = options.onExcess !== 'write' || hasCommonVersion(context, options);
  return mayLose && !hasBegun(reached) && reached.compared?.isComplete !== true;
}

function hasBegun({ reached }: Equalising): boolean {
  return reached !== undefined && (reached.isComplete || reached.nextOffset !== null);
}

/** True if both are equal, and are the last common version already. */
function isAsCommon({ run }: StepContext, { common, points, adds, late }: Tally): boolean {
  const { digest, points: listed } = run.base ?? {};
  const isSame = common === points && adds + late.lacking === 0;
  return isSame && digest !== undefined && listed === points;
}

function listFaults(
  report: ReconcileReport,
  { users, onExcess, isActiveReadOnly }: EqualiseOptions,
): string[] {
  if (users === 'writing') return [];
  if (onExcess === 'insert') return report.pending.missing > 0 ? listPending(report) : [];
  return isActiveReadOnly ? listPending(report) : listProblems(report);
}

/** Both limits apply during the walk, too: either collection may be emptied in the meantime. */
async function readLimits(context: StepContext, options: EqualiseOptions) {
  const { active, standby, onExcess, deletes } = options;
  const { vectors } = context.services;
  const limit = async (collection: string, deletes?: number) =>
    expectedLimit({ points: await vectors.count(collection) }, deletes);
  return {
    ...(hasCommonVersion(context, options) && { backLimit: await limit(active) }),
    ...(onExcess !== 'write' && { limit: await limit(standby, deletes) }),
  };
}

/** @throws Refusal unless both hold what they must */
export function assertEqual(
  { active, standby }: Pick<EqualiseOptions, 'active' | 'standby'>,
  faults: readonly string[],
): void {
  if (faults.length === 0) return;
  const why = `${standby} could not be made equal to ${active}: ${faults.join(', ')}.`;
  throw new Refusal('RefusedVerification', why);
}

/** More changes to the standby collection than a few late writes explain */
function isDamage({ points, late }: Tally): boolean {
  const { lacking: removes, changed: changes } = late;
  return isExcessive({ removes, changes, points: points + removes });
}

/** Changes to hold against the limit */
function limitChanges(
  found: Tally,
  { limitedChanges }: Pick<EqualiseOptions, 'limitedChanges'>,
): Changes {
  return limitedChanges === 'none' ? { ...found, changes: 0 } : found;
}

function hasCommonVersion({ run }: StepContext, { base }: Pick<EqualiseOptions, 'base'>): boolean {
  return base === 'continued' && run.base !== undefined;
}

async function readSettings(context: StepContext, options: EqualiseOptions) {
  const { vectors } = context.services;
  const { active, standby, isOfUser, isActiveReadOnly = false } = options;
  const writesBack = hasCommonVersion(context, options) && !isActiveReadOnly;
  return {
    ...(await chooseCopySettings(vectors, { from: active, to: standby })),
    without: testUserOf(context.run.runId),
    isOfUser,
    ...(writesBack && { back: await chooseCopySettings(vectors, { from: standby, to: active }) }),
  };
}

type Guards = Pick<ReconcileSettings, 'isDamaged' | 'limit' | 'backLimit'>;

function createWalks(
  context: StepContext,
  settings: Omit<ReconcileSettings, 'mode'>,
  options: EqualiseOptions & Resuming,
) {
  const { services, run, lease, renew, hasTime, keep } = context;
  let state = options.reached;

  const isTimeUp = () => !hasTime();
  const readBefore = () => (options.base === 'continued' ? context.run.base : undefined);

  /** @param written names the next last common version: each invocation writes its own. */
  function keepBase(written: string): BaseAccess {
    const prefix = `${run.runId}/base-${lease.epoch}-${written}`;
    const write = { prefix, keep: (base: Base) => context.note({ base }) };
    return { artifacts: services.artifacts, before: readBefore(), write };
  }

  async function compareBoth(): Promise<Comparing> {
    const { active, standby } = options;
    const total = await services.vectors.count(active);
    const vectors = options.limitedChanges === 'vectors' ? settings : undefined;
    return await compareFrom(
      context,
      { active, standby, base: readBefore(), vectors },
      {
        start: state.compared,
        pageSize: settings.pageSize,
        isTimeUp,
        save: async (compared) => {
          state = { ...state, compared };
          await keep(state, { done: compared.tally.points, total });
        },
      },
    );
  }

  /**
   * Called before a refusal: its cause may be repaired, so the next invocation must not judge by this comparison. Removals so
   * far are still counted.
   */
  async function compareAgain(): Promise<void> {
    const { reached } = state;
    state = { ...state, compared: undefined, reached: reached && startAfter(reached) };
    await keep(state);
  }

  async function walk(
    mode: ReconcileSettings['mode'],
    guards: Guards,
    { fromStart = false } = {},
  ): Promise<ReconcileCheckpoint> {
    const name = fromStart ? `${options.walk}-anew` : options.walk;
    const { reached: start = RECONCILE_START } = fromStart ? {} : state;
    const total = await services.vectors.count(options.active);
    const ports = {
      ...(options.base && { base: keepBase(name) }),
      renew,
      isTimeUp,
      saveCheckpoint: async (reached: ReconcileCheckpoint) => {
        state = { ...state, reached, ...(mode === 'insert' && { insertsOnly: true }) };
        await keep(state, { done: reached.report.compared, total });
      },
      keepConflicts: async (pairs: readonly PointPair[]) => {
        const [first] = pairs;
        if (!first) return;
        const key = `conflicts-${lease.epoch}-${name}-${first.id.replaceAll('"', '')}`;
        const contents = pairs.map(describeConflict);
        await writeJson(services.artifacts, `${run.runId}/${key}.json`, contents);
      },
    };
    return await reconcile({ ...settings, ...guards, mode }, ports, start);
  }

  return { walk, compareBoth, compareAgain };
}

/** Both versions of a memory, including the one that is overwritten */
function describeConflict({ id, from, to }: PointPair) {
  const read = (point: ScrolledPoint | undefined) => point && JSON.parse(point.payload);
  return { id: JSON.parse(id), stays: read(from), overruled: read(to) };
}

/** Facts of the writes that only the standby collection had */
export function describeLateWrites(
  name: string,
  { writes, overruled, withheld }: LateWrites,
): Facts {
  if (writes === 0) return {};
  const facts = { [name]: writes, [`${name}Overruled`]: overruled };
  return withheld > 0 ? { ...facts, [`${name}Withheld`]: withheld } : facts;
}
