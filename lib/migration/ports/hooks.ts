// Actions outside of the migration's reach: freezing and opening writes, deploying a version.
import { EXTERNAL_ACTIONS } from '../phases.ts';

export const HOOK_ACTIONS = [
  ...EXTERNAL_ACTIONS,
  // A notification: nothing waits for it.
  'warn-of-end',
  // Asks whether the webhook answers and accepts the token; no action follows.
  'check',
] as const;

export type HookAction = (typeof HOOK_ACTIONS)[number];

export interface HookRequest {
  readonly action: HookAction;
  readonly runId: string;
  /** A cutover and each rollback ask once, and again where it was not done; a warning is of one day. */
  readonly occasion: string;
  /** Collection that the backend must use */
  readonly collection: string;
  /** The new version accepts this user's writes from its deployment on; all other users wait until writes are opened. */
  readonly testUser: string;
  /** Time at which a freeze should end by itself if no call ends it; for a warning, the time that it warns of */
  readonly deadlineAt: number | undefined;
}

/**
 * `done`, `under-way` (ask again), or `asked-of-a-person`, who confirms that it is done.
 * Asking again is harmless: it is the same request, by its run, occasion and action.
 */
export type HookAnswer = 'done' | 'under-way' | 'asked-of-a-person';

export interface Hooks {
  /** @throws Refusal when the other side will not; RetryableFailure when it does not answer */
  ask(request: HookRequest): Promise<HookAnswer>;
}
