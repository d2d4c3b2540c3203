// A run in a form that a person can read: where it stands, what it rests on, what may be done next and by whom.
import * as v from 'valibot';
import { forecastWindow } from '../forecast.ts';
import { findLateMoves, findMoves, nextMove } from '../moves.ts';
import { APPROVED_EVIDENCE, hasEnded } from '../phases.ts';
import { Refusal } from '../refusals.ts';
import { translateFailure } from '../runs/failures.ts';
import { parseInput } from '../runs/input.ts';
import { phaseAtOf, type Run, runIdSchema, wasOpened, wentLive } from '../runs/run.ts';
import { testUserOf } from '../runs/run-names.ts';
import { readSwitch } from '../runs/stages.ts';
import { isOverdue, retentionOf } from '../runs/times.ts';
import type { Services } from '../services.ts';
import { lookSchema } from './write-freeze.ts';

export type Status = Awaited<ReturnType<typeof readStatus>>;

export const statusInputSchema = v.strictObject({ runId: v.optional(runIdSchema) });

/** @throws Refusal */
export async function describeRun(services: StatusServices, payload: unknown) {
  try {
    const { runId } = parseInput(statusInputSchema, payload ?? {});
    return await readStatus(services, runId);
  } catch (error) {
    throw translateFailure(error);
  }
}

type StatusServices = Pick<Services, 'runs' | 'lock' | 'clock'>;

/** Reads the named run, or the present one. @throws Refusal */
export async function readStatus(services: StatusServices, runId?: string) {
  const id = runId ?? (await services.lock.presentRun());
  if (id === undefined) throw new Refusal('RefusedUnknownRun', 'There has been no run yet.');
  const run = await services.runs.read(id);
  const { phase, plan, evidence, startedAt, window } = run;
  const phaseAt = toIso(phaseAtOf(run));
  const now = services.clock();
  const lease = await services.lock.leaseOf(id);
  const isLate = isOverdue(run, now);
  const { stages, frozenSince } = await readSwitchProgress(run, services);
  const mayFinish = wasOpened(run) || run.refused?.name === 'RefusedNothingToReturnTo';
  const moves = isLate ? findLateMoves(run, mayFinish) : findMoves(run);
  return {
    runId: id,
    /** When all of this was so. */
    at: now.toISOString(),
    phase,
    phaseAt,
    plan,
    testUser: testUserOf(id),
    startedAt: toIso(startedAt),
    deadlineAt: toIso(window?.deadlineAt),
    endedAt: hasEnded(phase) ? phaseAt : null,
    /** Collections that were due to be removed and are kept, because they were written to */
    kept: run.kept,
    /** Collections that users worked on and left. */
    served: run.served.map(({ collection, until }) => ({ collection, until: toIso(until) })),
    takesNoWindow: run.takesNoWindow ?? null,
    /** Points that are read a second at most; null where that is not limited. */
    maxRate: (await services.runs.maxRate(id)) ?? null,
    /** Who opened the window. */
    approvedBy: window?.approvedBy ?? null,
    history: run.history.map(({ phase, at }) => ({ phase, at: toIso(at) })),
    /** Seconds that each step took when it was last finished. */
    took: run.took,
    /** The last command was: why, with its numbers. */
    refused: run.refused ?? null,
    /** From then on users may have written to the new version. */
    openedAt: toIso(window?.openedAt),
    /** The first write that was refused; null where none was, or none is kept from writing. */
    frozenSince,
    /** Passed stages of the switch that is under way */
    stages,
    /** The window is over: the watch rolls it back, and steps towards the new version are refused. */
    isLate,
    retention: wentLive(run) ? retentionOf(run, now) : null,
    evidence: referencesIn(evidence),
    /** Results of the last window that is over, for the page of the run */
    lastWindow: referencesIn(run.lastWindow ?? {}),
    /** Lock of a step that is at work, or crashed */
    lock: lease ? { since: toIso(lease.since), until: toIso(lease.until) } : null,
    next: isLate ? 'rollback' : (nextMove(run)?.command ?? null),
    progress: await readProgress(run, services),
    moves: moves.map(({ command, by, to }) => ({ command, by, to })),
    approval:
      phase === 'copied' && nextMove(run)?.approves ? await readApproval(run, services) : null,
    pendingAction: isLate && !mayFinish ? null : await readPendingAction(run, services),
  };
}

function referencesIn(evidence: Run['evidence']) {
  return Object.entries(evidence).map(([kind, reference]) => ({
    kind,
    ...reference,
    recordedAt: toIso(reference.recordedAt),
  }));
}

/** Progress of the step that reported last, among those that may run now */
async function readProgress(run: Run, { runs }: Pick<Services, 'runs'>) {
  const commands = [...new Set(findMoves(run).map(({ command }) => command))];
  const found = await Promise.all(
    commands.map(async (step) => ({ step, saved: await runs.readCheckpoint(run.runId, step) })),
  );
  const [last] = found
    .flatMap(({ step, saved }) =>
      saved?.progress ? [{ step, ...saved.progress, savedAt: saved.savedAt }] : [],
    )
    .toSorted((one, other) => other.savedAt - one.savedAt);
  return last ? { ...last, savedAt: toIso(last.savedAt) } : null;
}

// A rollback after traffic was opened freezes writes again.
async function readSwitchProgress(run: Run, services: Pick<Services, 'runs'>) {
  const { runId, phase } = run;
  const isBack = phase === 'switching-back';
  if (phase !== 'switching' && !isBack) return { stages: [], frozenSince: null };
  const forward = await readSwitch(services, runId, 'cutover');
  const present = isBack ? await readSwitch(services, runId, 'rollback') : forward;
  const isOpened = wasOpened(run) && !isBack;
  const frozen = wasOpened(run) ? present : forward;
  return {
    stages: Object.keys(present?.passed ?? {}),
    frozenSince: isOpened ? null : findFrozenSince(frozen),
  };
}

/** The first of the last tries that were refused, also while the longest request is waited for. */
function findFrozenSince(state: Awaited<ReturnType<typeof readSwitch>>): string | null {
  const since = state?.passed.frozen?.facts.frozenSince;
  if (since !== undefined) return String(since);
  return v.is(lookSchema, state?.reached) ? toIso(state.reached.refusedSince) : null;
}

/** The report that an operator approves who opens the window. */
async function readApproval(run: Run, { runs }: Pick<Services, 'runs'>) {
  return {
    evidence: APPROVED_EVIDENCE,
    digest: run.evidence[APPROVED_EVIDENCE]?.digest ?? null,
    forecast: forecastWindow(run, await runs.maxRate(run.runId)),
  };
}

/** Action that a person must take now, if any, and who confirmed it */
async function readPendingAction(run: Run, { runs }: Pick<Services, 'runs'>) {
  if (!run.pendingAction) return null;
  const { action, collection, since } = run.pendingAction;
  const confirmedBy = (await runs.confirmedBy(run)) ?? null;
  return { action, collection, since: toIso(since), confirmedBy };
}

function toIso(milliseconds: number | undefined): string | null {
  return milliseconds === undefined ? null : new Date(milliseconds).toISOString();
}
