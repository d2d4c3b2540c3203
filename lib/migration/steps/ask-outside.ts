// Has something done that the migration cannot do itself, by the webhook or by a person who approves afterwards.

import { type Deed, GATE_OF } from '../phases.ts';
import type { HookAnswer } from '../ports/hooks.ts';
import { testUserOf } from '../ports/memory-backend.ts';
import { Refusal } from '../refusals.ts';
import { occasionOf } from '../runs/run-keys.ts';
import type { Turn } from '../runs/step.ts';

/** How long a freeze may outlast the window before it should end by itself. */
const GRACE_MS = 15 * 60_000;

/** Whether it is done; if not, to be asked again later. */
export async function isDoneOutside(
  turn: Turn,
  action: Deed,
  collection: string,
): Promise<boolean> {
  const { services, run, lease, note } = turn;
  const answer = await answerTo(turn, action, collection);
  if (answer !== 'asked-of-a-person') return answer === 'done';
  if (run.asks?.action === action && run.asks.collection === collection) return await isSaid(turn);
  const since = services.clock().getTime();
  await note({ asks: { action, collection, since, epoch: lease.epoch } });
  return false;
}

// Where a webhook is in charge, also of what it will not do, nobody waits for a person any more.
async function answerTo(turn: Turn, action: Deed, collection: string): Promise<HookAnswer> {
  const { run, note } = turn;
  let answer: HookAnswer | undefined;
  try {
    answer = await ask(turn, action, collection);
    return answer;
  } finally {
    if (answer !== 'asked-of-a-person' && run.asks) await note({ asks: undefined });
  }
}

async function ask({ services, run }: Turn, action: Deed, collection: string): Promise<HookAnswer> {
  const { runId, deadlineAt, returningAt } = run;
  // A return has no window, or is about to outlast it: its freeze ends when writes are opened on either version.
  const endsBy = returningAt === undefined ? deadlineAt : undefined;
  return await services.hooks.ask({
    action,
    runId,
    occasion: occasionOf(run),
    collection,
    testUser: testUserOf(runId),
    deadlineAt: endsBy === undefined ? undefined : endsBy + GRACE_MS,
  });
}

async function isSaid({ services, run }: Turn): Promise<boolean> {
  const { asks } = run;
  if (!asks) return false;
  try {
    await services.approvals.require(run, GATE_OF[asks.action]);
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.name === 'RefusedMissingApproval') return false;
    throw error;
  }
}
