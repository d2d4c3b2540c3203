// The response on the wire, and the log entry of an unusual error. contract/internal-errors.test.ts covers the usual errors.
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest';
import { createEndpoint } from '../../../../lib/ledger/http/endpoint.ts';
import { type Reply, replyWithData } from '../../../../lib/ledger/http/replies.ts';
import { invoke } from '../../support/api/invoke.ts';

const FAILURE = 'Failed to answer';

let log: MockInstance<typeof process.stderr.write>;
beforeEach(() => {
  log = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(() => log.mockRestore());

async function respond(createReply: () => Promise<Reply>, context = {}) {
  const handler = createEndpoint(FAILURE).handler(createReply);
  const { json, ...result } = await invoke(handler, {}, context);
  return { ...result, body: json() };
}

// The log bypasses the console: Lambda would wrap each entry in a string, which hides the fields of the cause from searches.
const readLog = () => log.mock.calls.map(([line]) => JSON.parse(String(line)));

test('a reply is uncacheable JSON, with the id that the function logs', async () => {
  expect(await respond(async () => replyWithData({ id: 1 }))).toEqual({
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

describe('an unexpected error', () => {
  test.each(['a string', 5, { odd: true }])(
    'may be a value that is not an Error: %o',
    async (thrown) => {
      expect(await respond(() => Promise.reject(thrown))).toMatchObject({ statusCode: 500 });
      const cause = { name: typeof thrown, message: String(thrown) };
      expect(readLog()).toMatchObject([{ cause }]);
    },
  );

  test('is logged with its own causes', async () => {
    const cause = new TypeError('odd', { cause: new Error('deeper') });
    await respond(() => Promise.reject(cause));
    expect(readLog()).toMatchObject([{ cause: { message: 'odd', cause: { message: 'deeper' } } }]);
  });

  test('may be a timeout: the response still has the envelope', async () => {
    const context = { getRemainingTimeInMillis: () => 6 };
    const { statusCode, body } = await respond(() => new Promise(() => {}), context);
    expect([statusCode, body]).toEqual([
      500,
      { success: false, error: 'internal_server_error', message: FAILURE },
    ]);
    expect(readLog()).toMatchObject([{ requestId: 'lambda-1', cause: { name: 'TimeoutError' } }]);
  });
});
