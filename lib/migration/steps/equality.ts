// Makes the standby collection equal to the active one, and carries late and early writes over to it: those of a request
// that outlasted the freeze, of a deployment that leaked, or of a program that still uses the other collection. A mistake in
// one collection, such as emptying it, must not be repeated in the other: removals are counted first.
import * as v from 'valibot';
import { type BaseKeeper, summarizeBase as contentsOfBase, createBaseReader } from '../base.ts';
import { holdSame, isUnchanged } from '../fate.ts';
import { memberOf } from '../json/memory-payload.ts';
import type { PointPair } from '../pairs.ts';
import { copySettings, whyUnhealthy } from '../point-writer.ts';
import { userOf } from '../points.ts';
import { writeJson } from '../ports/artifacts.ts';
import type { ScrolledPoint } from '../ports/vector-store.ts';
import { RECONCILE_START, type ReconcileCheckpoint, reconcile } from '../reconcile.ts';
import { faultsIn, pendingIn, type ReconcileReport, type Strays } from '../reconcile-report.ts';
import { isRefusal, Refusal, type RefusalData } from '../refusals.ts';
import type { ReconcileSettings } from '../resolver.ts';
import type { Progress, Run } from '../runs/run.ts';
import { testUserOf } from '../runs/run-names.ts';
import type { StepContext, StepRequest } from '../runs/step.ts';
import { pagesOf } from '../scan.ts';
import type { Services } from '../services.ts';
import { scanCollection } from './recorded-counts.ts';

/** Changes that a walk would make to a collection */
interface Changes {
  readonly removes: number;
  readonly changes: number;
  /** Points in the collection before the changes */
  readonly points: number;
}

const EXPECTED_SHARE = 100;
const ALWAYS_EXPECTED = 20;

/** So many points may be removed, unless the operator gives another number; and so many changed, at least. */
export function expectedLimit({ points }: Pick<Changes, 'points'>, deletes?: number): number {
  return deletes ?? Math.max(ALWAYS_EXPECTED, Math.floor(points / EXPECTED_SHARE));
}

export function isExcessive(changes: Changes, deletes?: number): boolean {
  const limit = expectedLimit(changes, deletes);
  const isEmptied = changes.points > 0 && changes.removes === changes.points;
  if (isEmptied && deletes === undefined) return true;
  return changes.removes > limit || changes.changes > Math.max(limit, expectedLimit(changes));
}

/** @throws Refusal with the numbers where it would remove or change more than expected */
export function assertExpected(changes: Changes, to: string, deletes?: number): void {
  if (!isExcessive(changes, deletes)) return;
  const { removes, changes: changed, points } = changes;
  const share = `remove ${removes} of ${points} points of ${to} and change ${changed}`;
  const limit = `expected are at most ${expectedLimit(changes, deletes)}`;
  throw refuseMassChange(`This would ${share}; ${limit}.`, { deletes: Math.max(removes, changed) });
}

export function refuseMassChange(why: string, data: RefusalData = {}): Refusal {
  return new Refusal('RefusedMassChange', why, { data });
}

interface Collections {
  /** Active collection */
  readonly from: string;
  /** Standby collection */
  readonly to: string;
}

/** Compares payloads only, as they are now: quick, and without any write. The test user's memories do not count. */
export async function countChanges(request: StepRequest, names: Collections, usesBase = true) {
  const { services, run } = request;
  const settings = await reconcileSettings(request, 'compare', names);
  const before = usesBase ? run.base : undefined;
  const base = { artifacts: services.artifacts, before };
  const ports = { base, saveCheckpoint: async () => {} };
  const { report } = await reconcile({ ...settings, payloadsOnly: true }, ports);
  const { pending, strays } = report;
  return {
    ...changesIn(report),
    adds: pending.missing,
    isDamaged: isDamage(report),
    /** Writes to the standby collection since both were equal, without deletions */
    written: strays.writes - strays.lacking,
  };
}

/** Compares a collection with the last common version. */
export async function changesSince({ services, run }: StepRequest, collection: string) {
  const { artifacts, vectors: store } = services;
  const findVersion = createBaseReader({ artifacts, before: run.base });
  const points = run.base ? (await contentsOfBase(artifacts, run.base)).points : 0;
  const found = { adds: 0, changes: 0, removes: points, points };
  for await (const { points: page } of pagesOf(
    { store, collection },
    { limit: 512, vector: false },
  )) {
    for (const point of page) {
      if (userOf(point.payload) === testUserOf(run.runId)) continue;
      const base = await findVersion(point.id);
      if (typeof base === 'string') found.adds += 1;
      else found.removes -= 1;
      if (typeof base !== 'string' && !isUnchanged(point, base)) found.changes += 1;
    }
  }
  return found;
}

/** True if the collection still equals the last common version. */
export async function isAsBase(services: Services, run: Run, collection: string): Promise<boolean> {
  if (!run.base) return false;
  const { contents } = await scanCollection(services, run, collection);
  return holdSame(contents, await contentsOfBase(services.artifacts, run.base));
}

const walkSchema = v.optional(v.custom<ReconcileCheckpoint>(() => true));

/** Checkpoint of both walks: the first one only compares. */
export const walksSchema = v.object({
  compared: walkSchema,
  written: walkSchema,
  /** The second one removes and changes nothing, however many invocations it takes; known once it begins. */
  insertsOnly: v.optional(v.boolean()),
});

export type Walks = v.InferOutput<typeof walksSchema>;

interface WalkOptions extends Collections {
  readonly reached: Walks;
  readonly save: (reached: Walks, progress: Progress) => Promise<unknown>;
}

/**
 * Requires frozen writes.
 * @returns the contents of both afterwards; undefined when time was up
 * @throws Refusal if it would remove or change too much, or if the collections could not be made equal
 */
export async function makeEqual(
  context: StepContext,
  options: WalkOptions & {
    /** Removed, and changed, are at most so many. */
    readonly deletes: number | undefined;
    /** Beyond the limit, missing points are still inserted, and nothing is removed or changed. */
    readonly mayInsertOnly: boolean;
    /** A restored snapshot is older than what both had. */
    readonly usesBase: boolean;
  },
): Promise<ReconcileReport | undefined> {
  const { from, to, deletes, mayInsertOnly } = options;
  const walk = createWalk(context, { label: 'equal', ...options });
  const compared = await walk('compare');
  if (!compared.isComplete) return undefined;
  const { report } = compared;
  const changes = changesIn(report);
  if (!mayInsertOnly) assertExpected(changes, to, deletes);
  const isEqual = faultsIn(report).length === 0;
  if (isEqual && holdSame(report.to, context.run.base ?? {})) return report;
  const limit = expectedLimit(changes, deletes);
  // If the first collection cannot be written to, another program's writes to the standby one are left there.
  const info = await context.services.vectors.collectionInfo(from);
  const isApart = info !== undefined && whyUnhealthy(info) !== undefined;
  const more = { limit, isDamaged: isDamage(report), ...(isApart && { back: undefined }) };
  const { insertsOnly = mayInsertOnly && isExcessive(changes, deletes) } = options.reached;
  const written = await walk(insertsOnly ? 'insert' : 'repair', more).catch((error: unknown) => {
    if (!mayInsertOnly || !isRefusal(error, 'RefusedMassChange')) throw error;
    return walk('insert', { ...more, fromStart: true });
  });
  if (!written.isComplete) return undefined;
  const faults = isApart ? pendingIn(written.report) : faultsIn(written.report);
  const isWell = mayInsertOnly ? written.report.pending.missing === 0 : faults.length === 0;
  if (isWell) return written.report;
  const why = `${to} could not be made equal to ${from}: ${faults.join(', ')}.`;
  throw new Refusal('RefusedVerification', why);
}

/**
 * Carries over the writes that reached the collection that users left, after the freeze. Traffic is open, so points that a
 * user has changed since are left alone.
 * @returns undefined when time was up
 */
export async function carryOverLateWrites(
  context: StepContext,
  options: WalkOptions & { readonly isOfUser?: ReconcileSettings['isOfUser'] },
): Promise<Strays | undefined> {
  const { services, run } = context;
  const { to, reached, isOfUser } = options;
  if (!run.base || !(await services.vectors.collectionExists(to))) return NO_STRAYS;
  if (!reached.compared && (await isAsBase(services, run, to))) return NO_STRAYS;
  const walk = createWalk(context, { label: 'carried', usesBase: true, ...options });
  const compared = await walk('compare', { isOfUser });
  if (!compared.isComplete) return undefined;
  const { report } = compared;
  const limit = expectedLimit(report.from);
  const carried = await walk('carry', { isOfUser, limit, isDamaged: isDamage(report) });
  return carried.isComplete ? carried.report.strays : undefined;
}

const NO_STRAYS: Strays = RECONCILE_START.report.strays;

/** Compares the times that mem0 keeps in the payload. */
export function isLaterChange(was: ScrolledPoint, is: ScrolledPoint): boolean {
  return changedAt(is) > changedAt(was);
}

/** Time of the last change, as mem0 notes it in the payload; 0 without one. */
export function changedAt({ payload }: ScrolledPoint): number {
  const at = memberOf(payload, 'updated_at') ?? memberOf(payload, 'created_at');
  const time = Date.parse(String(at));
  return Number.isNaN(time) ? 0 : time;
}

/** More changes to the standby collection than a few late writes explain */
function isDamage({ to, strays }: ReconcileReport): boolean {
  const { lacking: removes, changed: changes } = strays;
  return isExcessive({ removes, changes, points: to.points + removes });
}

function changesIn({ to, pending }: ReconcileReport): Changes {
  const { extra, payload, vector } = pending;
  return { removes: extra, changes: payload + vector, points: to.points };
}

type WalkSettings = Partial<
  Pick<ReconcileSettings, 'isDamaged' | 'isOfUser' | 'limit' | 'back'>
> & {
  readonly fromStart?: boolean;
};

function createWalk(
  context: StepContext,
  options: WalkOptions & { readonly label: string; readonly usesBase: boolean },
) {
  const { from, to, label, usesBase, reached, save } = options;
  let { compared, written } = reached;
  return async (
    mode: ReconcileSettings['mode'],
    { fromStart = false, ...more }: WalkSettings = {},
  ): Promise<ReconcileCheckpoint> => {
    const settings = { ...(await reconcileSettings(context, mode, { from, to })), ...more };
    const isComparison = mode === 'compare';
    // This walk writes the next base while it reads the one before.
    const { artifacts, write } = createBaseKeeper(context, fromStart ? `${label}-anew` : label);
    const before = usesBase ? context.run.base : undefined;
    const start = (isComparison ? compared : written) ?? RECONCILE_START;
    return await reconcileInStep(context, settings, {
      walk: fromStart ? `${label}-anew` : label,
      start: fromStart ? RECONCILE_START : start,
      base: { artifacts, before, write: isComparison ? undefined : write },
      save: async (walked, progress) => {
        if (isComparison) compared = walked;
        else written = walked;
        const insertsOnly = isComparison ? undefined : mode === 'insert';
        await save({ compared, written, insertsOnly }, progress);
      },
    });
  };
}

/** The last common version, and the target for the next one. @param label names the walk: each invocation writes its own. */
export function createBaseKeeper({ services, run, lease, note }: StepContext, label: string) {
  return {
    artifacts: services.artifacts,
    before: run.base,
    write: {
      prefix: `${run.runId}/base-${lease.epoch}-${label}`,
      keep: (base: NonNullable<Run['base']>) => note({ base }),
    },
  } satisfies BaseKeeper;
}

/** Goes on from the checkpoint; not complete when time is up. */
export async function reconcileInStep(
  { services, run, lease, renew, hasTime }: StepContext,
  settings: ReconcileSettings,
  options: {
    /** Names the walk: two of one invocation may begin a batch with the same memory. */
    readonly walk: string;
    readonly start: ReconcileCheckpoint;
    readonly save: (reached: ReconcileCheckpoint, progress: Progress) => Promise<void>;
    readonly base?: BaseKeeper;
  },
): Promise<ReconcileCheckpoint> {
  const { walk, start, save, ...ports } = options;
  const { store, collection } = settings.from;
  const total = await store.count(collection);
  return await reconcile(
    settings,
    {
      ...ports,
      renew,
      isTimeUp: () => !hasTime(),
      saveCheckpoint: (reached) => save(reached, { done: reached.report.compared, total }),
      keepConflicts: async (pairs) => {
        const [first] = pairs;
        if (!first) return;
        const name = `conflicts-${lease.epoch}-${walk}-${first.id.replaceAll('"', '')}`;
        await writeJson(
          services.artifacts,
          `${run.runId}/${name}.json`,
          pairs.map(describeConflict),
        );
      },
    },
    start,
  );
}

/** Both versions of a memory, including the one that is overwritten */
function describeConflict({ id, from, to }: PointPair) {
  const read = (point: ScrolledPoint | undefined) => point && JSON.parse(point.payload);
  return { id: JSON.parse(id), stays: read(from), overruled: read(to) };
}

/** @param names of a copy, unless others are given */
export async function reconcileSettings(
  { services, run }: StepRequest,
  mode: ReconcileSettings['mode'],
  names = { from: run.plan.sourceCollection, to: run.plan.targetCollection },
): Promise<ReconcileSettings> {
  const { vectors } = services;
  const settings = await copySettings(vectors, names);
  const without = testUserOf(run.runId);
  if (!run.base) return { ...settings, mode, without };
  const back = await copySettings(vectors, { from: names.to, to: names.from });
  return { ...settings, mode, without, back };
}
