// The operator's own webhook, as a server in this process that has things done in the sandbox.
import { json } from 'node:stream/consumers';
import type { HookRequest, Hooks } from '../../../lib/migration/ports/hooks.ts';
import { listen } from '../loopback.ts';

interface Asked {
  readonly action: HookRequest['action'];
  readonly run_id: string;
  readonly collection: string;
  readonly test_user: string;
}

export async function startWebhook(hooks: Hooks) {
  return await listen(async (request, response) => {
    const {
      action,
      run_id: runId,
      collection,
      test_user: testUser,
    } = (await json(request)) as Asked;
    const asked = { action, runId, collection, testUser, occasion: '', deadlineAt: undefined };
    await hooks.ask(asked);
    response.writeHead(204).end();
  });
}
