import type { Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { handler } from '../../../functions/api/preflight.ts';
import type { ApiEvent } from '../../../lib/http/api-event.ts';

describe('OPTIONS on any path', () => {
  it('is answered with success when a browser asks for leave', async () => {
    const answer = await options({ 'access-control-request-method': 'POST' });
    expect(answer).toMatchObject({ statusCode: 200, headers: { 'x-request-id': 'request-1' } });
    expect(body(answer)).toEqual({ success: true });
  });

  it('is not allowed otherwise', async () => {
    const answer = await options({});
    expect(answer).toMatchObject({ statusCode: 405, headers: { allow: 'GET, POST' } });
    expect(body(answer)).toMatchObject({ success: false, error: 'method_not_allowed' });
  });
});

function options(headers: Record<string, string>) {
  const requestContext = {
    http: { method: 'OPTIONS', path: '/transactions' },
  };
  return handler(
    { headers, requestContext } as unknown as ApiEvent,
    {
      awsRequestId: 'request-1',
    } as Context,
  );
}

function body(answer: unknown): unknown {
  return JSON.parse((answer as { body: string }).body);
}
