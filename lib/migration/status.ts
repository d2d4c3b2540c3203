// A run in a form that a person can read: where it stands, what it rests on, what may be done next and by whom.

import { testUserOf } from './memory-backend.ts';
import { movesFrom, nextMove } from './next-step.ts';
import { GATE_PLACES, GATES } from './phases.ts';
import { Refusal } from './refusals.ts';
import { retentionOf } from './retention.ts';
import type { Run } from './run.ts';
import type { Services } from './services.ts';

export type Status = Awaited<ReturnType<typeof readStatus>>;

/** Of the run that is under way, or was last, unless one is named. @throws Refusal */
export async function readStatus(
  services: Pick<Services, 'runs' | 'lock' | 'clock'>,
  runId?: string,
) {
  const id = runId ?? (await services.lock.latestRun());
  if (id === undefined) throw new Refusal('RefusedUnknownRun', 'There has been no run yet.');
  const run = await services.runs.read(id);
  const { phase, plan, evidence, deadlineAt, startedAt, endedAt } = run;
  const next = nextMove(phase);
  const checkpoint = next && (await services.runs.readCheckpoint(id, next.command));
  return {
    runId: id,
    phase,
    plan,
    testUser: testUserOf(id),
    startedAt: isoOf(startedAt),
    deadlineAt: isoOf(deadlineAt),
    endedAt: isoOf(endedAt),
    retention: run.retainUntil === undefined ? null : retentionOf(run, services.clock()),
    evidence: Object.entries(evidence).map(([kind, { artifact, digest, recordedAt, facts }]) => ({
      kind,
      artifact,
      digest,
      recordedAt: isoOf(recordedAt),
      facts,
    })),
    next: next?.command ?? null,
    progress: checkpoint?.progress ?? null,
    moves: movesFrom(phase).map(({ command, by, to }) => ({ command, by, to })),
    gates: gatesOf(run),
  };
}

/** What a person may be asked for now, and the digest that the answer has to name. */
function gatesOf({ phase, evidence }: Run) {
  return GATES.filter((gate) => GATE_PLACES[gate].in.includes(phase)).map((gate) => {
    const kind = GATE_PLACES[gate].evidence;
    return { gate, evidence: kind, digest: evidence[kind]?.digest ?? null };
  });
}

function isoOf(milliseconds: number | undefined): string | null {
  return milliseconds === undefined ? null : new Date(milliseconds).toISOString();
}
