// The client leaves tries to the retry, and never waits for ever.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { expect, onTestFinished, test } from 'vitest';
import { createDocumentClient } from '../../../lib/store/document-client.ts';
import { isRetryable } from '../../../lib/store/retryable-errors.ts';

/** A database that meets every call in one way. @returns what a call fails with, and how often it was sent */
async function callOf(meet: RequestListener): Promise<{ error: unknown; calls: number }> {
  let calls = 0;
  const server = createServer((request, response) => {
    calls += 1;
    meet(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = createDocumentClient(`http://127.0.0.1:${port}`);
  onTestFinished(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  const read = client.send(new GetCommand({ TableName: 't', Key: { pk: 'p', sk: 's' } }));
  const error = await read.catch((thrown: unknown) => thrown);
  return { error, calls };
}

test('one that fails is asked once: the next try is decided on elsewhere', async () => {
  const { error, calls } = await callOf((_, response) => response.writeHead(500).end());
  expect([isRetryable(error), calls]).toEqual([true, 1]);
});

test('one that never answers is given up, and may be asked again', async () => {
  const { error, calls } = await callOf(() => {});
  expect(error).toMatchObject({ name: 'TimeoutError' });
  expect([isRetryable(error), calls]).toEqual([true, 1]);
});
