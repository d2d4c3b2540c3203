// How the page reads the service's responses.
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../../../web/page/api-error.ts';
import { readResponse } from '../../../../web/page/client.ts';

describe('a response', () => {
  test('with one record is given the ETag of that record', async () => {
    const response = Response.json({ data: { id: 7 } }, { headers: { etag: '"t7.1.0"' } });
    expect(await readResponse(response)).toEqual({ data: { id: 7, etag: '"t7.1.0"' } });
  });

  test.each([
    ['a truncated success', new Response('{"data":{"id":', { status: 201 }), true],
    ["a proxy's page", new Response('<html>', { status: 200 }), true],
    ["a gateway's failure", new Response('<html>', { status: 502 }), true],
    [
      'a temporary conflict',
      Response.json({}, { status: 409, headers: { 'retry-after': '1' } }),
      true,
    ],
    ['a refusal', Response.json({ message: 'No' }, { status: 400 }), false],
    ['a truncated refusal', new Response('{"mess', { status: 400 }), false],
  ])(
    'that is %s becomes an error that says whether the request can be retried',
    async (_, response, isRetryable) => {
      const failure = await readResponse(response).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ApiError);
      expect(failure).toMatchObject({ isRetryable });
    },
  );
});
