// No service gets the key of another one: an answer that redirects is an answer, and is not followed.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createHttpMemoryBackend } from '../../../../lib/migration/adapters/http-memory-backend.ts';
import { createQdrant } from '../../../../lib/migration/adapters/qdrant.ts';
import { createSecret } from '../../../../lib/migration/adapters/secrets.ts';
import { createWebhook } from '../../../../lib/migration/adapters/webhook.ts';
import { DEFAULT_RETRY_POLICY } from '../../../../lib/retry.ts';

const KEY = 'the-key';
const timeoutMs = 5_000;
const WARNING = {
  ...({ action: 'warn-of-end', runId: 'run-a', occasion: '7', collection: 'memories' } as const),
  ...{ testUser: 'tester', deadlineAt: undefined },
};

async function listen(serve: RequestListener): Promise<string> {
  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => void server.close(() => resolve())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const once = { ...DEFAULT_RETRY_POLICY, deadlineMs: 0 };

it.each<[string, (url: string) => Promise<unknown>]>([
  [
    'the vector store',
    (url) => createQdrant({ url, apiKey: KEY, pace: once }).collectionInfo('memories'),
  ],
  [
    'the vector store, for a snapshot',
    (url) => createQdrant({ url, apiKey: KEY, pace: once }).downloadSnapshot('memories', 'a', 0),
  ],
  [
    'the memory backend',
    (url) => createHttpMemoryBackend({ url, apiKey: createSecret(KEY), timeoutMs }).health(),
  ],
  [
    'the webhook',
    (url) => createWebhook({ url, token: createSecret(KEY), timeoutMs }).ask(WARNING),
  ],
])('a redirection of %s is not followed', async (_, call) => {
  const heard: unknown[] = [];
  const elsewhere = await listen((request, response) => {
    heard.push(request.headers);
    response.end('{"status":"ok","result":{}}');
  });
  for (const status of [301, 302, 307, 308]) {
    const url = await listen((request, response) => {
      expect(JSON.stringify(request.headers)).toContain(KEY);
      response.writeHead(status, { location: elsewhere }).end();
    });
    await expect(call(url)).rejects.toThrow();
  }
  expect(heard).toEqual([]);
});
