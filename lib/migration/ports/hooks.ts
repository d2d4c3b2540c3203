// What happens outside of the migration's reach: freezing and opening writes, deploying a version.
import { EXTERNAL_ACTIONS } from '../phases.ts';

export const HOOK_ACTIONS = [
  ...EXTERNAL_ACTIONS,
  // A notification: nothing waits for it.
  'warn-of-end',
  // Whether it hears, and takes the token: nothing is to be done.
  'check',
] as const;

export type HookAction = (typeof HOOK_ACTIONS)[number];

export interface HookRequest {
  readonly action: HookAction;
  readonly runId: string;
  /** A cutover and each rollback ask once, and again where it was not done; a warning is of one day. */
  readonly occasion: string;
  /** That the backend is to work on. */
  readonly collection: string;
  /** Whose writes the new version takes from its deployment on; everybody else's wait until they are opened. */
  readonly testUser: string;
  /** A freeze should end by itself then, should nobody come to end it; a warning is of this moment. */
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
