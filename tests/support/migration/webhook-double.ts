// The operator's own webhook, as a server in this process that has things done in the sandbox.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { HookRequest, Hooks } from '../../../lib/migration/ports/hooks.ts';

interface Told {
  readonly action: HookRequest['action'];
  readonly run_id: string;
  readonly collection: string;
  readonly test_user: string;
}

export async function startWebhook(hooks: Hooks) {
  const server = createServer(async (request, response) => {
    const {
      action,
      run_id: runId,
      collection,
      test_user: testUser,
    } = (await json(request)) as Told;
    const told = { action, runId, collection, testUser, occasion: '', deadlineAt: undefined };
    await hooks.ask(told);
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
