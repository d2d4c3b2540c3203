// Responses of the service, as the page reads them.
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../../web/page/api-error.ts';
import { readAnswer } from '../../../../web/page/client.ts';

describe('a response', () => {
  test('of one record carries the tag of its version', async () => {
    const response = Response.json({ data: { id: 7 } }, { headers: { etag: '"t7.1.0"' } });
    expect(await readAnswer(response)).toEqual({ data: { id: 7, etag: '"t7.1.0"' } });
  });

  test.each([
    ['a success that is cut off', new Response('{"data":{"id":', { status: 201 }), true],
    ['a page of a proxy', new Response('<html>', { status: 200 }), true],
    ['a failure of a gateway', new Response('<html>', { status: 502 }), true],
    [
      'a temporary conflict',
      Response.json({}, { status: 409, headers: { 'retry-after': '1' } }),
      true,
    ],
    ['a refusal', Response.json({ message: 'No' }, { status: 400 }), false],
    ['a refusal that is cut off', new Response('{"mess', { status: 400 }), false],
  ])(
    'that is %s becomes an error that shows whether the request can be repeated',
    async (_, response, isRetryable) => {
      const failure = await readAnswer(response).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ApiError);
      expect(failure).toMatchObject({ isRetryable });
    },
  );
});
