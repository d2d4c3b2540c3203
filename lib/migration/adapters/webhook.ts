// External actions, carried out by the operator's webhook or by a person.
import type { Hooks } from '../ports/hooks.ts';
import { Refusal } from '../refusals.ts';
import { requestJson } from './http.ts';
import type { Secret } from './secrets.ts';

/** The webhook returns 200 or 204 when the action is done, 202 while it is in progress. */
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
      const body = {
        action,
        run_id: runId,
        collection,
        test_user: testUser,
        deadline_at: deadline,
      };
      const headers = {
        'idempotency-key': `${runId}:${occasion}:${action}`,
        ...(token && { authorization: `Bearer ${token.reveal()}` }),
      };
      const name = `${SERVICE}: POST ${action}`;
      const call = { url, name, method: 'POST', headers, body: JSON.stringify(body) };
      const { status } = await requestJson(call, timeoutMs);
      if (status === 202) return 'under-way';
      if (status === 200 || status === 204) return 'done';
      const why = `${SERVICE} answered ${status} to ${action}`;
      if (status !== 401 && status !== 403) throw new Refusal('RefusedByService', `${why}.`);
      throw new Refusal('RefusedCredentials', `${why}: check MIGRATION_WEBHOOK_TOKEN.`);
    },
  };
}

const SERVICE = 'The webhook of MIGRATION_WEBHOOK_URL';

/** Calls no service: the operator carries out the action by hand and confirms it. */
export const manualHooks: Hooks = { ask: async () => 'asked-of-a-person' };
