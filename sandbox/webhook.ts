// The operator's webhook in a rehearsal: passes HTTP requests on to the hooks in this process.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as v from 'valibot';
import { HOOK_ACTIONS, type HookAction, type Hooks } from '../lib/migration/ports/hooks.ts';

interface Webhook {
  readonly url: string;
  close(): Promise<void>;
}

const requestSchema = v.object({
  action: v.picklist(HOOK_ACTIONS),
  run_id: v.string(),
  collection: v.string(),
  test_user: v.string(),
  deadline_at: v.nullable(v.pipe(v.string(), v.isoTimestamp())),
});

/** Matches the Idempotency-Key that the webhook adapter sends: run, occasion and action. */
const IDEMPOTENCY_KEY = /^[^:]+:(.+):[^:]+$/;

const STATUS = { done: 204, 'under-way': 202, 'asked-of-a-person': 202 } as const;

/** @param onDone called with each action before the response is sent */
export async function startWebhook(
  hooks: Hooks,
  onDone: (action: HookAction) => void = () => {},
): Promise<Webhook> {
  const server = createServer((incoming, response) => {
    answerRequest(hooks, incoming).then(
      ({ action, status }) => {
        onDone(action);
        response.writeHead(status).end();
      },
      (error: unknown) => response.writeHead(chooseStatus(error)).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answerRequest(hooks: Hooks, incoming: IncomingMessage) {
  const body: unknown = JSON.parse(Buffer.concat(await Array.fromAsync(incoming)).toString());
  const { action, run_id, collection, test_user, deadline_at } = v.parse(requestSchema, body);
  const [, occasion = ''] = IDEMPOTENCY_KEY.exec(String(incoming.headers['idempotency-key'])) ?? [];
  const answer = await hooks.ask({
    action,
    runId: run_id,
    occasion,
    collection,
    testUser: test_user,
    deadlineAt: deadline_at === null ? undefined : Date.parse(deadline_at),
  });
  return { action, status: STATUS[answer] };
}

function chooseStatus(error: unknown): number {
  return error instanceof v.ValiError || error instanceof SyntaxError ? 400 : 500;
}
