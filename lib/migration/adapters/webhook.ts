// What happens outside of the migration's reach (freezing and opening writes, deploying a version): by a webhook of the
// operator's own, or by a person who is asked.
import { EXTERNAL_ACTIONS } from '../phases.ts';
import { Refusal } from '../refusals.ts';
import { requestJson } from './json-over-http.ts';
import type { Secret } from './secrets.ts';

export const HOOK_ACTIONS = [
  ...EXTERNAL_ACTIONS,
  // A notification: nothing waits for it.
  'warn-of-end',
] as const;

export type HookAction = (typeof HOOK_ACTIONS)[number];

export interface HookRequest {
  readonly action: HookAction;
  readonly runId: string;
  /** A cutover and each rollback freeze and open writes once; a warning is of one day. */
  readonly occasion: string;
  /** That the backend is to work on. */
  readonly collection: string;
  /** Whose writes the new version takes from its deployment on; everybody else's wait until they are opened. */
  readonly testUser: string;
  /** A freeze should end by itself then, should nobody come to end it; a warning is of this moment. */
  readonly deadlineAt: number | undefined;
}

/**
 * `done`, `under-way` (ask again), or `asked-of-a-person`, who says by an approval that it is done.
 * Asking again is harmless: it is the same request, by its run, occasion and action.
 */
export type HookAnswer = 'done' | 'under-way' | 'asked-of-a-person';

export interface Hooks {
  /** @throws Refusal when the other side will not; RetryableFailure when it does not answer */
  ask(request: HookRequest): Promise<HookAnswer>;
}

/** Answers 200 or 204 when it is done, 202 while it is being done. */
export function createWebhook(options: {
  readonly url: string;
  readonly token: Secret | undefined;
  readonly timeoutMs: number;
}): Hooks {
  const { url, token, timeoutMs } = options;
  return {
    async ask(request) {
      const { action, runId, occasion, collection, testUser, deadlineAt } = request;
      const deadline = deadlineAt === undefined ? null : new Date(deadlineAt).toISOString();
      const { status } = await requestJson({
        method: 'POST',
        url,
        service: 'The webhook of MIGRATION_WEBHOOK_URL',
        endpoint: action,
        headers: {
          'idempotency-key': `${runId}:${occasion}:${action}`,
          ...(token ? { authorization: `Bearer ${token.reveal()}` } : {}),
        },
        body: { action, run_id: runId, collection, test_user: testUser, deadline_at: deadline },
        timeoutMs,
      });
      if (status === 202) return 'under-way';
      if (status === 200 || status === 204) return 'done';
      throw new Refusal(
        status === 401 || status === 403 ? 'RefusedCredentials' : 'RefusedByWebhook',
        `The webhook answered ${status} to ${action}.`,
      );
    },
  };
}

/** Calls nobody: the operator does it by hand and confirms. */
export const askAPerson: Hooks = { ask: async () => 'asked-of-a-person' };
