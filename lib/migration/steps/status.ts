// The status of a run: its phase, its evidence, its progress, and the commands that it accepts from whom
import * as v from 'valibot';
import { forecastWindow } from '../forecast.ts';
import { decideNext, hasReturned, isRepeated, mustReturn } from '../next.ts';
import { APPROVED_EVIDENCE, type Command, hasEnded } from '../phases.ts';
import { Refusal } from '../refusals.ts';
import { translateFailure } from '../runs/failures.ts';
import { parseInput } from '../runs/input.ts';
import { type RecordedJournal, readJournal, readStage, stagesOf } from '../runs/journal.ts';
import { phaseSince, type Run, runIdSchema, wasOpened, wentLive } from '../runs/run.ts';
import { testUserOf } from '../runs/run-names.ts';
import { retentionOf } from '../runs/times.ts';
import type { Services } from '../services.ts';
import { freezeChecksSchema, proofSchema } from './backend-actions.ts';

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

/** Reads the named run, or the current one. @throws Refusal */
export async function readStatus(services: StatusServices, runId?: string) {
  const id = runId ?? (await services.lock.currentRun());
  if (id === undefined) throw new Refusal('RefusedUnknownRun', 'There has been no run yet.');
  const run = await services.runs.read(id);
  const { phase, plan, evidence, startedAt, window } = run;
  const phaseAt = toIso(phaseSince(run));
  const now = services.clock();
  const lease = await services.lock.leaseOf(id);
  const isLate = mustReturn(run, now);
  const { stages, frozenSince } = await readSwitchProgress(run, services);
  const { command, moves } = decideNext(run, now);
  const mayFinish = moves.some((move) => move.command === 'cutover');
  const approves = moves.some((move) => move.command === command && move.approves);
  return {
    runId: id,
    /** Time of this status */
    at: now.toISOString(),
    phase,
    phaseAt,
    plan,
    testUser: testUserOf(id),
    startedAt: toIso(startedAt),
    deadlineAt: toIso(window?.deadlineAt),
    endedAt: hasEnded(phase) ? phaseAt : null,
    /** Collections kept beyond their removal date, because they were written to */
    kept: run.kept,
    /** Collections that users worked on before, each kept until a date */
    served: run.served.map(({ collection, until }) => ({ collection, until: toIso(until) })),
    takesNoWindow: run.takesNoWindow ?? null,
    /** Limit of points read a second; null without one */
    maxRate: (await services.runs.maxRate(id)) ?? null,
    /** Person who opened the window */
    approvedBy: window?.approvedBy ?? null,
    /** Digest of the report with which it was opened */
    approvedReport: window?.approvedReport ?? null,
    history: run.history.map(({ phase, at }) => ({ phase, at: toIso(at) })),
    /** Seconds that each step took the last time */
    took: run.took,
    /** Refusal of the last command, with its reason */
    refused: run.refused ?? null,
    /** Time from which users may have written to the new version */
    openedAt: toIso(window?.openedAt),
    /** Time of the first refused write; null if there was none, or if writes are open */
    frozenSince,
    /** Passed stages of the switch in progress */
    stages,
    /** True for a window that must be left: the watch rolls it back, and steps forward are refused. */
    isLate,
    isRepeated: isRepeated(run, now),
    hasReturned: hasReturned(run),
    retention: wentLive(run) ? retentionOf(run, now) : null,
    evidence: listReferences(evidence),
    /** Evidence of the last window that has ended, for the page of the run */
    lastWindow: listReferences(run.lastWindow ?? {}),
    /** Lock of a step that is running, or has crashed */
    lock: lease ? { since: toIso(lease.since), until: toIso(lease.until) } : null,
    next: command,
    progress: await readProgress(run, services, moves),
    moves: moves.map(({ command, needsPerson, to }) => ({
      command,
      by: needsPerson ? ['operator'] : ['operator', 'machine'],
      to,
    })),
    approval: approves ? await readApproval(run, services) : null,
    pendingAction: isLate && !mayFinish ? null : await readPendingAction(run, services),
  };
}

function listReferences(evidence: Run['evidence']) {
  return Object.entries(evidence).map(([kind, reference]) => ({
    kind,
    ...reference,
    recordedAt: toIso(reference.recordedAt),
  }));
}

/** Progress of the step that reported last, among those that can run now */
async function readProgress(
  run: Run,
  { runs }: Pick<Services, 'runs'>,
  moves: readonly { readonly command: Command }[],
) {
  const commands = [...new Set(moves.map(({ command }) => command))];
  const found = await Promise.all(
    commands.map(async (step) => ({ step, saved: await runs.readCheckpoint(run.runId, step) })),
  );
  const [last] = found
    .flatMap(({ step, saved }) =>
      saved?.progress ? [{ step, ...saved.progress, savedAt: saved.savedAt }] : [],
    )
    .toSorted((first, second) => second.savedAt - first.savedAt);
  return last ? { ...last, savedAt: toIso(last.savedAt) } : null;
}

// A rollback after traffic was opened freezes writes again.
async function readSwitchProgress(run: Run, services: Pick<Services, 'runs'>) {
  const { runId, phase } = run;
  const isBackward = phase === 'switching-back';
  if (phase !== 'switching' && !isBackward) return { stages: [], frozenSince: null };
  const forward = await readJournal(services, runId, 'cutover');
  const current = isBackward ? await readJournal(services, runId, 'rollback') : forward;
  const isOpened = wasOpened(run) && !isBackward;
  const frozen = wasOpened(run) ? current : forward;
  return {
    stages: Object.keys(current ? stagesOf(current) : {}),
    frozenSince: isOpened ? null : findFrozenSince(frozen),
  };
}

/** Time of the first refused write since the last accepted one, even before the freeze is proved */
function findFrozenSince(state: RecordedJournal | undefined): string | null {
  const frozen = state && readStage(state, 'frozen');
  if (v.is(proofSchema, frozen)) return frozen.frozenSince;
  return v.is(freezeChecksSchema, frozen) ? toIso(frozen.refusedSince) : null;
}

/** The report that an operator approves by opening the window */
async function readApproval(run: Run, { runs }: Pick<Services, 'runs'>) {
  return {
    evidence: APPROVED_EVIDENCE,
    digest: run.evidence[APPROVED_EVIDENCE]?.digest ?? null,
    forecast: forecastWindow(run, await runs.maxRate(run.runId)),
  };
}

/** Action that a person must carry out now, and who confirmed it; null without one */
async function readPendingAction(run: Run, { runs }: Pick<Services, 'runs'>) {
  if (!run.pendingAction) return null;
  const { action, collection, since } = run.pendingAction;
  const confirmedBy = (await runs.confirmedBy(run)) ?? null;
  return { action, collection, since: toIso(since), confirmedBy };
}

function toIso(milliseconds: number | undefined): string | null {
  return milliseconds === undefined ? null : new Date(milliseconds).toISOString();
}
