// Actions that the migration cannot carry out itself: freezing and opening writes, deploying a version
import { EXTERNAL_ACTIONS } from '../phases.ts';

export const HOOK_ACTIONS = [
  ...EXTERNAL_ACTIONS,
  // A notification: nothing waits for it.
  'warn-of-end',
  // Asks whether the webhook responds and accepts the token; no action follows.
  'check',
] as const;

export type HookAction = (typeof HOOK_ACTIONS)[number];

export interface HookRequest {
  readonly action: HookAction;
  readonly runId: string;
  /** Distinguishes requests for the same action: by the cutover, each rollback, a repetition, or each day's warning */
  readonly occasion: string;
  /** Collection that the backend must use */
  readonly collection: string;
  /** The new version accepts this user's writes immediately; all other users wait until writes are opened. */
  readonly testUser: string;
  /** Time at which a freeze should end by itself if no call ends it; in a warning, the end that it warns of */
  readonly deadlineAt: number | undefined;
}

/**
 * under-way: ask again, which is harmless, because run, occasion and action identify the request. asked-of-a-person: a person
 * carries out the action and confirms it.
 */
export type HookOutcome = 'done' | 'under-way' | 'asked-of-a-person';

export interface Hooks {
  /** @throws Refusal if the webhook refuses; RetryableFailure if it does not respond */
  ask(request: HookRequest): Promise<HookOutcome>;
}
