// Reads the status of a run: its phase, evidence and progress, the commands that it accepts, and who may give them.
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
  const mayFinishWindow = moves.some((move) => move.command === 'cutover');
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
    /** Limit of points read per second; null if unlimited */
    maxRate: (await services.runs.maxRate(id)) ?? null,
    /** Person who opened the window */
    approvedBy: window?.approvedBy ?? null,
    /** Digest of the report that this person approved */
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
    /** Passed stages of the switch or rollback in progress */
    stages,
    /** True if the window must be rolled back: the watch does that, and forward steps are refused. */
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
    pendingAction: isLate && !mayFinishWindow ? null : await readPendingAction(run, services),
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
  const checkpoints = await Promise.all(
    commands.map(async (step) => ({ step, saved: await runs.readCheckpoint(run.runId, step) })),
  );
  const [latest] = checkpoints
    .flatMap(({ step, saved }) =>
      saved?.progress ? [{ step, ...saved.progress, savedAt: saved.savedAt }] : [],
    )
    .toSorted((first, second) => second.savedAt - first.savedAt);
  return latest ? { ...latest, savedAt: toIso(latest.savedAt) } : null;
}

// A rollback after traffic was opened freezes writes again.
async function readSwitchProgress(run: Run, services: Pick<Services, 'runs'>) {
  const { runId, phase } = run;
  const isBackward = phase === 'switching-back';
  if (phase !== 'switching' && !isBackward) return { stages: [], frozenSince: null };
  const cutoverJournal = await readJournal(services, runId, 'cutover');
  const currentJournal = isBackward
    ? await readJournal(services, runId, 'rollback')
    : cutoverJournal;
  const isOpenBeforeDeadline = wasOpened(run) && !isBackward;
  const freezeJournal = wasOpened(run) ? currentJournal : cutoverJournal;
  return {
    stages: Object.keys(currentJournal ? stagesOf(currentJournal) : {}),
    frozenSince: isOpenBeforeDeadline ? null : findFrozenSince(freezeJournal),
  };
}

/** Time of the first refused write since the last accepted one, even before the freeze is proved */
function findFrozenSince(journal: RecordedJournal | undefined): string | null {
  const freezeStage = journal && readStage(journal, 'frozen');
  if (v.is(proofSchema, freezeStage)) return freezeStage.frozenSince;
  return v.is(freezeChecksSchema, freezeStage) ? toIso(freezeStage.refusedSince) : null;
}

/** The report that an operator approves by opening the window */
async function readApproval(run: Run, { runs }: Pick<Services, 'runs'>) {
  return {
    evidence: APPROVED_EVIDENCE,
    digest: run.evidence[APPROVED_EVIDENCE]?.digest ?? null,
    forecast: forecastWindow(run, await runs.maxRate(run.runId)),
  };
}

/** Action that a person must carry out now, and who confirmed it; null if there is none */
async function readPendingAction(run: Run, { runs }: Pick<Services, 'runs'>) {
  if (!run.pendingAction) return null;
  const { action, collection, since } = run.pendingAction;
  const confirmedBy = (await runs.confirmedBy(run)) ?? null;
  return { action, collection, since: toIso(since), confirmedBy };
}

function toIso(milliseconds: number | undefined): string | null {
  return milliseconds === undefined ? null : new Date(milliseconds).toISOString();
}
