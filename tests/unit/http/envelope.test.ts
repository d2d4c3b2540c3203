// What goes over the wire, what goes into the log, and that one does not get into the other.
import type { APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest';
import { ConflictError } from '../../../lib/errors.ts';
import type { ApiEvent } from '../../../lib/http/api-event.ts';
import { endpoint } from '../../../lib/http/endpoint.ts';
import { found, type Reply } from '../../../lib/http/replies.ts';

const FAILURE = 'Failed to answer';

let log: MockInstance<typeof process.stderr.write>;
beforeEach(() => {
  log = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(() => log.mockRestore());

const CONTEXT = { awsRequestId: 'lambda-1' } as Context;
const http = { method: 'GET', path: '/' };
const EVENT = { requestContext: { requestId: 'gateway-1', http } } as ApiEvent;

async function answer(answering: () => Promise<Reply>, event = EVENT, context = CONTEXT) {
  const handler = endpoint(FAILURE).handler(answering);
  const result = (await handler(event, context)) as unknown as APIGatewayProxyStructuredResultV2;
  return { ...result, body: JSON.parse(result.body ?? '') };
}

async function fail(error: unknown): Promise<never> {
  throw error;
}

// Not by the console, which Lambda wraps: the fields of the cause could not be searched.
const logged = () => log.mock.calls.map(([line]) => JSON.parse(String(line)));

test('a reply goes out as JSON that nobody keeps, with the id that the function logs', async () => {
  expect(await answer(async () => found({ id: 1 }))).toEqual({
    statusCode: 200,
    headers: {
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'strict-transport-security': 'max-age=31536000',
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-request-id': 'lambda-1',
    },
    body: { success: true, data: { id: 1 } },
  });
});

test('an expected error is told to the client and not to the log', async () => {
  const { statusCode, headers, body } = await answer(() => fail(new ConflictError('taken')));
  expect([statusCode, headers?.['x-request-id']]).toEqual([409, 'lambda-1']);
  expect(body).toEqual({ success: false, error: 'conflict', message: 'taken' });
  expect(logged()).toEqual([]);
});

describe('an unexpected error', () => {
  test('is a 500 that tells nothing of the cause, which is logged with the request id', async () => {
    const cause = new TypeError('secret', { cause: new Error('deeper') });
    const { statusCode, headers, body } = await answer(() => fail(cause));
    expect([statusCode, headers?.['x-request-id']]).toEqual([500, 'lambda-1']);
    expect(body).toEqual({ success: false, error: 'internal_server_error', message: FAILURE });
    expect(logged()).toMatchObject([
      {
        level: 'ERROR',
        requestId: 'lambda-1',
        message: FAILURE,
        cause: expect.objectContaining({
          name: 'TypeError',
          message: 'secret',
          stack: expect.stringContaining('envelope.test.ts'),
          cause: expect.objectContaining({ message: 'deeper' }),
        }),
      },
    ]);
  });

  test.each(['a text', 5, { odd: true }])('may be no Error at all: %o', async (thrown) => {
    expect(await answer(() => fail(thrown))).toMatchObject({ statusCode: 500 });
    const cause = { name: typeof thrown, message: String(thrown) };
    expect(logged()).toMatchObject([{ cause }]);
  });

  test('may be a request that runs out of time: the answer still comes, in the envelope', async () => {
    const context = { ...CONTEXT, getRemainingTimeInMillis: () => 6 };
    const { statusCode, body } = await answer(() => new Promise(() => {}), EVENT, context);
    expect([statusCode, body]).toEqual([
      500,
      { success: false, error: 'internal_server_error', message: FAILURE },
    ]);
    expect(logged()).toMatchObject([{ requestId: 'lambda-1', cause: { name: 'TimeoutError' } }]);
  });
});

test.each([
  [undefined, '', {}],
  [{ id: '%20' }, '%20', { page: '1' }],
])('path parameters %o and query are at hand', async (pathParameters, pathId, query) => {
  const seen: unknown[] = [];
  const handler = endpoint(FAILURE).handler(async (event) => {
    seen.push(event.pathId, event.query);
    return found({});
  });
  const event = { ...EVENT, pathParameters, queryStringParameters: query } as unknown as ApiEvent;
  await handler(event, CONTEXT);
  expect(seen).toEqual([pathId, query]);
});
