// Actions outside of the migration's reach. A webhook carries them out, or a person does and confirms each one. A confirmation
// holds for one pending action and cannot be reused.
import * as v from 'valibot';
import { EXTERNAL_ACTIONS, type ExternalAction } from '../phases.ts';
import type { HookAnswer } from '../ports/hooks.ts';
import { RetryableFailure } from '../refusals.ts';
import { translateFailure } from '../runs/failures.ts';
import { parseInput, personSchema } from '../runs/input.ts';
import { Paused } from '../runs/journal.ts';
import { phaseAtOf, type Run, runIdSchema } from '../runs/run.ts';
import { testUserOf } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import type { Services } from '../services.ts';

/** Time by which a freeze may outlast the window before it ends by itself */
const GRACE_MS = 15 * 60_000;

/** Requests an action, and waits until it is done. @throws Paused */
export async function waitForAction(
  context: StepContext,
  action: ExternalAction,
  collection: string,
): Promise<void> {
  const answer = await requestAction(context, action, collection);
  if (answer === 'done') return;
  if (answer === 'asked-of-a-person' && (await isConfirmed(context, action, collection))) return;
  throw new Paused({ waitsFor: 'the webhook' });
}

/** False for an action that was not pending: from now on it is. */
async function isConfirmed(
  { services, run, lease, note }: StepContext,
  action: ExternalAction,
  collection: string,
): Promise<boolean> {
  const { pendingAction: pending } = run;
  if (pending?.action === action && pending.collection === collection) {
    return (await services.runs.confirmedBy(run)) !== undefined;
  }
  const since = services.clock().getTime();
  await note({ pendingAction: { action, collection, since, epoch: lease.epoch } });
  return false;
}

// A webhook's answer, even a refusal, leaves no action pending for a person.
async function requestAction(
  context: StepContext,
  action: ExternalAction,
  collection: string,
): Promise<HookAnswer> {
  const { run, note } = context;
  let answer: HookAnswer | undefined;
  try {
    answer = await ask(context, action, collection);
    return answer;
  } finally {
    if (answer !== 'asked-of-a-person' && run.pendingAction) {
      await note({ pendingAction: undefined });
    }
  }
}

async function ask(
  { services, run }: StepContext,
  action: ExternalAction,
  collection: string,
): Promise<HookAnswer> {
  const { runId, phase, window } = run;
  // A rollback has no deadline: its freeze ends when writes are opened on either version.
  const endsBy = phase === 'switching-back' ? undefined : window?.deadlineAt;
  return await services.hooks.ask({
    action,
    runId,
    occasion: nameOccasion(run),
    collection,
    testUser: testUserOf(runId),
    deadlineAt: endsBy === undefined ? undefined : endsBy + GRACE_MS,
  });
}

/** Distinguishes requests: another window or rollback, or an action that must be repeated, is a new one. */
function nameOccasion(run: Run): string {
  return `${run.phase}-${run.askedAgainAt ?? phaseAtOf(run)}`;
}

/**
 * Called before a step refuses because an action was reported as done and was not: the next request is a new one, for a person
 * and for a webhook that carries out each request once.
 */
export async function askAgain({ services, run, note }: StepContext): Promise<void> {
  const { askedAgainAt: before = 0 } = run;
  const askedAgainAt = Math.max(services.clock().getTime(), before + 1);
  await note({ pendingAction: undefined, askedAgainAt });
}

/** Adds to the message of a failure that the action before it may not have been carried out. */
export function suspectAction(
  action: ExternalAction,
  collection: string,
  failure: unknown,
): unknown {
  if (!(failure instanceof RetryableFailure)) return failure;
  const { name, message, answer } = failure;
  const why = `${message} If this lasts, check that "${action}" on ${collection} is done.`;
  return new RetryableFailure(name, why, { cause: failure, ...(answer && { answer }) });
}

export const confirmInputSchema = v.strictObject({
  runId: runIdSchema,
  action: v.picklist(EXTERNAL_ACTIONS),
  confirmedBy: personSchema,
});

/** @throws Refusal */
export async function confirmAction({ runs }: Pick<Services, 'runs'>, payload: unknown) {
  try {
    const { runId, action, confirmedBy: by } = parseInput(confirmInputSchema, payload);
    await runs.confirm(await runs.read(runId), { action, by });
    return { runId, action, confirmedBy: by };
  } catch (error) {
    throw translateFailure(error);
  }
}
