// Redirects are not followed, so that no service ever gets another service's key.
import { expect, it } from 'vitest';
import { createHttpMemoryBackend } from '../../../../lib/migration/adapters/http-memory-backend.ts';
import { createQdrant } from '../../../../lib/migration/adapters/qdrant.ts';
import { createSecret } from '../../../../lib/migration/adapters/secrets.ts';
import { createWebhook } from '../../../../lib/migration/adapters/webhook.ts';
import type { HookRequest } from '../../../../lib/migration/ports/hooks.ts';
import { DEFAULT_RETRY_POLICY } from '../../../../lib/shared/retry.ts';
import { listenInTest } from '../../../shared/support/loopback.ts';

const KEY = 'the-key';
const timeoutMs = 5_000;
const WARNING: HookRequest = {
  action: 'warn-of-end',
  runId: 'run-a',
  occasion: '7',
  collection: 'memories',
  testUser: 'tester',
  deadlineAt: undefined,
};

const once = { ...DEFAULT_RETRY_POLICY, deadlineMs: 0 };

it.each<[string, (url: string) => Promise<unknown>]>([
  [
    'the vector store',
    (url) => createQdrant({ url, apiKey: KEY, pace: once }).readCollectionInfo('memories'),
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
  const received: unknown[] = [];
  const target = await listenInTest((request, response) => {
    received.push(request.headers);
    response.end('{"status":"ok","result":{}}');
  });
  for (const status of [301, 302, 307, 308]) {
    const url = await listenInTest((request, response) => {
      expect(JSON.stringify(request.headers)).toContain(KEY);
      response.writeHead(status, { location: target }).end();
    });
    await expect(call(url)).rejects.toThrow();
  }
  expect(received).toEqual([]);
});
