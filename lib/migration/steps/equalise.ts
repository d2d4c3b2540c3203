// Makes two collections equal: in a copy, in the window, in a rollback, and when late writes are carried over. First compares them,
// so that damage to one collection, such as the loss of all points, is not repeated in the other.
import type { Base } from '../base.ts';
import { assertExpected, type Changes, computeLimit, isExcessive } from '../mass-change.ts';
import type { PointPair } from '../pairs.ts';
import { DECISIONS } from '../phases.ts';
import { chooseCopySettings } from '../point-writer.ts';
import { writeJson } from '../ports/artifacts.ts';
import type { ScrolledPoint } from '../ports/vector-store.ts';
import {
  type ReconcileCheckpoint,
  type Reconciled,
  type ReconcilePorts,
  reconcile,
  startAfter,
} from '../reconcile.ts';
import {
  type LateWrites,
  listPending,
  listProblems,
  NOTHING_COMPARED,
  type ReconcileReport,
} from '../reconcile-report.ts';
import { isRefusal, Refusal } from '../refusals.ts';
import type { ReconcileSettings } from '../resolver.ts';
import { type Facts, readStage } from '../runs/journal.ts';
import { testUserOf } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import { type ComparisonCursor, comparePages, type Tally } from './comparison.ts';

/** Names of the two stages: the comparison, which writes nothing, and the walk that writes */
const COMPARED = 'compared';
const WRITTEN = 'written';

/** Cursor of the walk that writes */
interface WriteCursor {
  /** Last checkpoint of the walk */
  readonly reached: ReconcileCheckpoint;
  /** True if this walk only inserts, in all its invocations */
  readonly insertsOnly: boolean;
}

export interface EqualiseOptions {
  /** Collection that users work on; its version of a memory wins unless the last common version decides otherwise */
  readonly active: string;
  readonly standby: string;
  /**
   * Use of the last common version. continued: it shows which side has changed a memory, and the next one is written. begun: it
   * does not apply, for example to a restored snapshot, and the next one is written. By default it is not used, and none is
   * written: the active version wins.
   */
  readonly base?: 'continued' | 'begun' | undefined;
  /** Returns true if a user made the given change to the standby collection. */
  readonly isUserChange?: ReconcileSettings['isUserChange'];
  /** True if the store refuses writes to the active collection: changes of the standby one are then not carried back. */
  readonly isActiveReadOnly?: boolean;
  /** Names the artifacts of the walk: one invocation may make several walks. */
  readonly walk: string;
  /** An earlier walk. Its writes and removals are counted together with those of this one. */
  readonly earlier?: Reconciled | undefined;
  /** frozen: both collections must be equal afterwards. writing: a later walk repairs the remaining differences. */
  readonly users: 'frozen' | 'writing';
  /**
   * Reaction if more of the standby collection would be removed or changed than expected. refuse: nothing is written. insert:
   * only missing memories are inserted. write: everything is written.
   */
  readonly onExcess: 'refuse' | 'insert' | 'write';
  /** Number of removals that the operator has allowed */
  readonly deletes?: number | undefined;
  /** fill: nothing is read back. carry: only changes of the standby collection are written, to the active one. */
  readonly mode?: 'repair' | 'fill' | 'carry';
  /**
   * Changes that are limited like removals; by default, those of payloads. vectors: those of payloads and vectors, because the
   * active version may have embedded its memories with another model.
   */
  readonly limitedChanges?: 'none' | 'payloads' | 'vectors';
}

export interface Equalised {
  readonly report: ReconcileReport;
  /** Remaining differences that `users` and `onExcess` do not allow */
  readonly faults: readonly string[];
}

/**
 * Compares, then writes. Both are stages of the given context, so each call needs a stage of its own.
 * @throws Paused when time is up; Refusal if more would be removed or changed than expected
 */
export async function equalise(context: StepContext, options: EqualiseOptions): Promise<Equalised> {
  const { standby, onExcess, deletes } = options;
  const { stages } = context;
  const settings = await readSettings(context, options);
  const hasBegun = readStage(stages.recorded, WRITTEN) !== undefined;
  // Once the walk has begun, a comparison would count the walk's own changes.
  const tally =
    hasBegun || !mustCompare(context, options)
      ? (stages.recorded.passed[COMPARED]?.found as Tally | undefined)
      : await stages.once<Tally, ComparisonCursor>(COMPARED, (context) =>
          compareBoth(context, settings, options),
        );
  const changes = tally && selectLimitedChanges(tally, options);
  const exceedsLimit = changes !== undefined && isExcessive(changes, deletes);
  if (changes && !hasBegun) {
    if (exceedsLimit && onExcess === 'refuse') {
      await discardStages(context);
      assertExpected(changes, standby, deletes);
    }
    if (options.limitedChanges === 'vectors' && equalsBase(context, tally)) {
      const to = { ...NOTHING_COMPARED.to, points: tally.points };
      return { report: { ...NOTHING_COMPARED, compared: tally.points, to }, faults: [] };
    }
  }
  const mayInsert = onExcess === 'insert';
  const earlier = readEarlier(context) ?? options.earlier;
  const reconciled = await stages.once<Reconciled, WriteCursor>(WRITTEN, async (context) => {
    const { insertsOnly = mayInsert && exceedsLimit } = context.cursor ?? {};
    const guards = {
      isDamaged: tally !== undefined && hasTooManyLateChanges(tally),
      ...(await readLimits(context, options)),
    };
    const write = (walkOptions: WalkOptions) =>
      writeChanges(context, { ...settings, ...guards }, { ...options, earlier, ...walkOptions });
    return await write({ insertsOnly }).catch((error: unknown) => {
      if (!mayInsert || !isRefusal(error, 'RefusedMassChange')) throw error;
      return write({ insertsOnly: true, startsOver: true });
    });
  });
  const faults = listFaults(reconciled.report, options);
  if (faults.length > 0) await discardStages(context, reconciled);
  return { report: reconciled.report, faults };
}

/** False if users need nothing that the walk can remove or overwrite */
function mustCompare(context: StepContext, options: EqualiseOptions): boolean {
  return options.onExcess !== 'write' || hasCommonVersion(context, options);
}

/**
 * Called before a refusal. The operator may repair the cause, so the next invocation must compare again. Removals so far still
 * count.
 */
async function discardStages(context: StepContext, earlier = readEarlier(context)): Promise<void> {
  const passed = earlier ? { [DECISIONS.earlier]: { found: earlier } } : {};
  await context.stages.rewrite({ passed });
}

function readEarlier({ stages }: StepContext): Reconciled | undefined {
  return stages.recorded.passed[DECISIONS.earlier]?.found as Reconciled | undefined;
}

/** True if both collections are equal to each other and to the last common version. */
function equalsBase({ run }: StepContext, { common, points, adds, late }: Tally): boolean {
  const isSame = common === points && adds + late.lacking === 0;
  return isSame && run.base?.digest !== undefined && run.base.points === points;
}

function listFaults(
  report: ReconcileReport,
  { users, onExcess, isActiveReadOnly }: EqualiseOptions,
): string[] {
  if (users === 'writing') return [];
  if (onExcess === 'insert') return report.pending.missing > 0 ? listPending(report) : [];
  return isActiveReadOnly ? listPending(report) : listProblems(report);
}

/** Reads the limits of removals during the walk: either collection may be emptied after the comparison. */
async function readLimits(context: StepContext, options: EqualiseOptions) {
  const { active, standby, onExcess, deletes } = options;
  const { vectors } = context.services;
  const readLimit = async (collection: string, deletes?: number) =>
    computeLimit({ points: await vectors.count(collection) }, deletes);
  return {
    ...(hasCommonVersion(context, options) && { backLimit: await readLimit(active) }),
    ...(onExcess !== 'write' && { limit: await readLimit(standby, deletes) }),
  };
}

/** @throws Refusal if there are faults */
export function assertEqual(
  { active, standby }: Pick<EqualiseOptions, 'active' | 'standby'>,
  faults: readonly string[],
): void {
  if (faults.length === 0) return;
  const message = `${standby} could not be made equal to ${active}: ${faults.join(', ')}.`;
  throw new Refusal('RefusedVerification', message);
}

/** True if the standby collection has more changes than a few late writes explain */
function hasTooManyLateChanges({ points, late }: Tally): boolean {
  const { lacking: removes, changed: changes } = late;
  return isExcessive({ removes, changes, points: points + removes });
}

function selectLimitedChanges(
  tally: Tally,
  { limitedChanges }: Pick<EqualiseOptions, 'limitedChanges'>,
): Changes {
  return limitedChanges === 'none' ? { ...tally, changes: 0 } : tally;
}

function hasCommonVersion({ run }: StepContext, { base }: Pick<EqualiseOptions, 'base'>): boolean {
  return base === 'continued' && run.base !== undefined;
}

async function readSettings(
  context: StepContext,
  options: EqualiseOptions,
): Promise<Omit<ReconcileSettings, 'mode'>> {
  const { vectors } = context.services;
  const { active, standby, isUserChange, isActiveReadOnly = false } = options;
  const writesBack = hasCommonVersion(context, options) && !isActiveReadOnly;
  return {
    ...(await chooseCopySettings(vectors, { from: active, to: standby })),
    excludedUser: testUserOf(context.run.runId),
    isUserChange,
    ...(writesBack && { back: await chooseCopySettings(vectors, { from: standby, to: active }) }),
  };
}

function readBase({ run }: StepContext, { base }: EqualiseOptions): Base | undefined {
  return base === 'continued' ? run.base : undefined;
}

async function compareBoth(
  context: StepContext<ComparisonCursor>,
  settings: Omit<ReconcileSettings, 'mode'>,
  options: EqualiseOptions,
): Promise<Tally> {
  const { active, standby, limitedChanges } = options;
  const vectors = limitedChanges === 'vectors' ? settings : undefined;
  const total = await context.services.vectors.count(active);
  const sources = { active, standby, base: readBase(context, options), vectors };
  return await comparePages(context, sources, {
    pageSize: settings.pageSize,
    walk: context,
    total,
  });
}

interface WalkOptions {
  readonly insertsOnly: boolean;
  /** True if the walk starts over, because it reached its limit */
  readonly startsOver?: boolean;
}

async function writeChanges(
  context: StepContext<WriteCursor>,
  settings: Omit<ReconcileSettings, 'mode'>,
  options: EqualiseOptions & WalkOptions,
): Promise<Reconciled> {
  const { services, run, lease, renewLease, cursor, saveCursor, checkpoint, updateRun } = context;
  const { artifacts } = services;
  const { insertsOnly, startsOver = false, mode = 'repair' } = options;
  const name = startsOver ? `${options.walk}-anew` : options.walk;
  // Each invocation writes the next common version under its own prefix.
  const prefix = `${run.runId}/base-${lease.epoch}-${name}`;
  const base = {
    artifacts,
    previous: readBase(context, options),
    write: { prefix, save: (base: Base) => updateRun({ base }) },
  };
  const toCursor = (reached: ReconcileCheckpoint) => ({ reached, insertsOnly });
  const start = cursor?.reached ?? (options.earlier && startAfter(options.earlier));
  const ports: ReconcilePorts = {
    ...(options.base && { base }),
    renewLease,
    cursor: startsOver ? undefined : start,
    saveCursor: (reached) => saveCursor(toCursor(reached)),
    checkpoint: (read, page) => checkpoint(async () => toCursor(await read()), page),
    total: await services.vectors.count(options.active),
    keepConflicts: async (pairs) => {
      const [first] = pairs;
      if (!first) return;
      const key = `conflicts-${lease.epoch}-${name}-${first.id.replaceAll('"', '')}`;
      await writeJson(artifacts, `${run.runId}/${key}.json`, pairs.map(describeConflict));
    },
  };
  return await reconcile({ ...settings, mode: insertsOnly ? 'insert' : mode }, ports);
}

/** Both versions of a memory, including the one that is overwritten */
function describeConflict({ id, active, standby }: PointPair) {
  const parsePayload = (point: ScrolledPoint | undefined) => point && JSON.parse(point.payload);
  return { id: JSON.parse(id), stays: parsePayload(active), overruled: parsePayload(standby) };
}

/** Facts about writes that only the standby collection had */
export function describeLateWrites(
  name: string,
  { writes, overruled, withheld }: LateWrites,
): Facts {
  if (writes === 0) return {};
  const facts = { [name]: writes, [`${name}Overruled`]: overruled };
  return withheld > 0 ? { ...facts, [`${name}Withheld`]: withheld } : facts;
}
