// A run in a form that a person can read: where it stands, what it rests on, what may be done next and by whom.

import * as v from 'valibot';
import { movesFrom, nextMove } from '../next-step.ts';
import { GATE_PLACES, GATES } from '../phases.ts';
import { testUserOf } from '../ports/memory-backend.ts';
import { Refusal } from '../refusals.ts';
import { approvableDigest } from '../runs/approvals.ts';
import { parseInput } from '../runs/parse-input.ts';
import { type Run, runIdSchema } from '../runs/run.ts';
import { translateFailure } from '../runs/translate-failure.ts';
import type { Services } from '../services.ts';
import { retentionOf } from './retention-days.ts';

export type Status = Awaited<ReturnType<typeof readStatus>>;

export const statusInputSchema = v.strictObject({ runId: v.optional(runIdSchema) });

/** @throws Refusal */
export async function statusOf(services: StatusServices, payload: unknown) {
  try {
    const { runId } = parseInput(statusInputSchema, payload ?? {});
    return await readStatus(services, runId);
  } catch (error) {
    throw translateFailure(error);
  }
}

type StatusServices = Pick<Services, 'runs' | 'lock' | 'clock' | 'approvals'>;

/** Of the run that is under way, or was last, unless one is named. @throws Refusal */
export async function readStatus(services: StatusServices, runId?: string) {
  const id = runId ?? (await services.lock.latestRun());
  if (id === undefined) throw new Refusal('RefusedUnknownRun', 'There has been no run yet.');
  const run = await services.runs.read(id);
  const { phase, phaseAt, plan, evidence, deadlineAt, startedAt, endedAt } = run;
  const now = services.clock();
  return {
    runId: id,
    /** When all of this was so. */
    at: now.toISOString(),
    phase,
    phaseAt: isoOf(phaseAt),
    plan,
    testUser: testUserOf(id),
    startedAt: isoOf(startedAt),
    deadlineAt: isoOf(deadlineAt),
    endedAt: isoOf(endedAt),
    retention: run.retainUntil === undefined ? null : retentionOf(run, now),
    evidence: Object.entries(evidence).map(([kind, { artifact, digest, recordedAt, facts }]) => ({
      kind,
      artifact,
      digest,
      recordedAt: isoOf(recordedAt),
      facts,
    })),
    next: nextMove(phase)?.command ?? null,
    progress: await progressOf(run, services),
    moves: movesFrom(phase).map(({ command, by, to }) => ({ command, by, to })),
    gates: await gatesOf(run, services),
  };
}

/** Of the step that was last heard of, among those that may be taken now. */
async function progressOf({ runId, phase }: Run, { runs }: Pick<Services, 'runs'>) {
  const commands = [...new Set(movesFrom(phase).map(({ command }) => command))];
  const found = await Promise.all(
    commands.map(async (step) => ({ step, saved: await runs.readCheckpoint(runId, step) })),
  );
  const [last] = found
    .flatMap(({ step, saved }) =>
      saved?.progress ? [{ step, ...saved.progress, savedAt: saved.savedAt }] : [],
    )
    .toSorted((one, other) => other.savedAt - one.savedAt);
  return last ? { ...last, savedAt: isoOf(last.savedAt) } : null;
}

/** What a person may be asked for now, and the digest that the answer has to name. */
async function gatesOf(run: Run, { approvals }: Pick<Services, 'approvals'>) {
  const asked = GATES.filter((gate) => GATE_PLACES[gate].in.includes(run.phase));
  return await Promise.all(
    asked.map(async (gate) => {
      const kind = GATE_PLACES[gate].evidence;
      const digest = approvableDigest(run, gate) ?? null;
      return { gate, evidence: kind, digest, ...(await approvals.answerTo(run, gate)) };
    }),
  );
}

function isoOf(milliseconds: number | undefined): string | null {
  return milliseconds === undefined ? null : new Date(milliseconds).toISOString();
}
