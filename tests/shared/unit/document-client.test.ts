// The client makes one attempt per call: database.ts decides on retries, and aborts calls.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  createDocumentClient,
  decodeItem,
  type WireItem,
} from '../../../lib/shared/document-client.ts';
import { isRetryable } from '../../../lib/shared/retryable-errors.ts';
import { listenInTest } from '../support/loopback.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';

const BODY = JSON.stringify({ Item: { pk: { S: 'p' }, sk: { S: 's' } } });
const HALF = BODY.slice(0, BODY.length / 2);

/** @returns the error of a call to a server that responds in this way, and how many requests the server got */
async function callServer(respond: RequestListener, abortSignal?: AbortSignal) {
  let calls = 0;
  const url = await listenInTest((request, response) => {
    calls += 1;
    respond(request, response);
  });
  const client = createDocumentClient(url);
  onTestFinished(() => client.destroy());
  const options = abortSignal ? { abortSignal } : {};
  const read = client.send(new GetCommand({ TableName: 't', Key: { pk: 'p', sk: 's' } }), options);
  const error = await read.catch((thrown: unknown) => thrown);
  return { error, calls };
}

test('an error response is not retried by the client', async () => {
  const { error, calls } = await callServer((_, response) => response.writeHead(500).end());
  expect([isRetryable(error), calls]).toEqual([true, 1]);
});

describe('a response that ends before its body is complete is a retryable error', () => {
  test('when the connection is reset', async () => {
    const { error, calls } = await callServer(({ socket }, response) => {
      response
        .writeHead(200, { 'content-length': BODY.length })
        .write(HALF, () => socket.destroy());
    });
    expect([isRetryable(error), calls]).toEqual([true, 1]);
  });

  test('when the body is truncated', async () => {
    const { error } = await callServer((_, response) => response.writeHead(200).end(HALF));
    expect(isRetryable(error)).toBe(true);
  });

  test('when it stalls, and the call is aborted', async () => {
    const abort = new AbortController();
    const { error } = await callServer((_, response) => {
      response.writeHead(200, { 'content-length': BODY.length });
      response.write(HALF, () => abort.abort());
    }, abort.signal);
    expect(isRetryable(error)).toBe(true);
  });
});

test('the client reads from a database behind a socket', async () => {
  const socket = join(await createTemporaryFolder(), 'database');
  const server = createServer((_, response) => response.end(BODY)).listen(socket);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const client = createDocumentClient(`unix:${socket}`);
  onTestFinished(() => client.destroy());
  const read = new GetCommand({ TableName: 't', Key: { pk: 'p', sk: 's' } });
  expect((await client.send(read)).Item).toEqual({ pk: 'p', sk: 's' });
});

test.each([
  ['12', 12],
  ['-12.5', -12.5],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ['9007199254740993', 9007199254740993n],
  ['-58283588385786294496500000010', -58283588385786294496500000010n],
  ['5.828358838578629449650000001E+28', 58283588385786294496500000010n],
  ['1E+30', 10n ** 30n],
  ['1E-7', 1e-7],
])('the number %s of an item is read exactly', async (text, number) => {
  const url = await listenInTest((_, response) => {
    response.end(JSON.stringify({ Item: { number: { N: text } } }));
  });
  const client = createDocumentClient(url);
  onTestFinished(() => client.destroy());
  const read = await client.send(new GetCommand({ TableName: 't', Key: { pk: 'p', sk: 's' } }));
  expect(read.Item).toEqual({ number });
  expect(decodeItem({ number: { N: text } })).toEqual({ number });
});

test('an item of a query equals what the document client would return', async () => {
  const wire = {
    ...{
      pk: { S: 'p' },
      empty: { S: '' },
      zero: { N: '0' },
      yes: { BOOL: true },
      none: { NULL: true },
    },
    rows: { L: [{ S: 'a' }, { M: { n: { N: '1E+30' } } }] },
    names: { SS: ['a', 'b'] },
  } as const;
  const url = await listenInTest((_, response) => response.end(JSON.stringify({ Item: wire })));
  const client = createDocumentClient(url);
  onTestFinished(() => client.destroy());
  const { Item } = await client.send(new GetCommand({ TableName: 't', Key: { pk: 'p', sk: 's' } }));
  const { names, rows, ...flat } = wire;
  const decoded = decodeItem({
    ...flat,
    names: { SS: [...names.SS] },
    rows: { L: [...rows.L] },
  } as WireItem);
  expect(decoded).toEqual(Item);
  expect(Item).toMatchObject({ empty: '', none: null, rows: ['a', { n: 10n ** 30n }] });
});

test('the client logs nothing, and no method that a credential provider calls is missing', () => {
  const client = createDocumentClient('http://localhost:1');
  onTestFinished(() => client.destroy());
  const logger = client.config.logger as Partial<typeof client.config.logger>;
  // With an `info` method, the SDK would copy every response for a log entry.
  expect(logger.info).toBeUndefined();
  for (const method of ['debug', 'warn', 'error'] as const) {
    expect(logger[method]?.('a word')).toBeUndefined();
  }
});
