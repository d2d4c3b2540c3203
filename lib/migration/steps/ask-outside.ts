// Has something done that the migration cannot do itself, by the webhook or by a person who approves afterwards.

import type { Gate } from '../phases.ts';
import type { HookAction } from '../ports/hooks.ts';
import { testUserOf } from '../ports/memory-backend.ts';
import { Refusal } from '../refusals.ts';
import { occasionOf } from '../runs/run-keys.ts';
import type { StepContext } from '../runs/step.ts';

type Deed = Exclude<HookAction, 'warn-of-end'>;

const GATE_OF: Readonly<Record<Deed, Gate>> = {
  freeze: 'frozen',
  'deploy-new': 'deployed',
  'deploy-old': 'deployed',
  'open-writes': 'opened',
};

/** How long a freeze may outlast the window before it should end by itself. */
const GRACE_MS = 15 * 60_000;

/** Whether it is done; if not, to be asked again later. */
export async function isDoneOutside(
  { services, run }: StepContext,
  action: Deed,
  collection: string,
): Promise<boolean> {
  const { runId, deadlineAt, returningAt } = run;
  // A return has no window, or is about to outlast it: its freeze ends when writes are opened on either version.
  const endsBy = returningAt === undefined ? deadlineAt : undefined;
  const answer = await services.hooks.ask({
    action,
    runId,
    occasion: occasionOf(run),
    collection,
    testUser: testUserOf(runId),
    deadlineAt: endsBy === undefined ? undefined : endsBy + GRACE_MS,
  });
  if (answer !== 'asked-of-a-person') return answer === 'done';
  try {
    await services.approvals.require(run, GATE_OF[action]);
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.name === 'RefusedMissingApproval') return false;
    throw error;
  }
}
