// OPTIONS as a browser sends it. contract/api/routes.test.ts covers other requests with OPTIONS, which get a 404 or 405.
import { expect, it } from 'vitest';
import { handler } from '../../../../functions/service/preflight.ts';
import { invoke } from '../../support/api/invoke.ts';

it("a browser's CORS preflight succeeds", async () => {
  const headers = { 'access-control-request-method': 'POST' };
  const requestContext = { http: { method: 'OPTIONS', path: '/transactions' } };
  const reply = await invoke(handler, { headers, requestContext });
  expect(reply).toMatchObject({ statusCode: 200, headers: { 'x-request-id': 'lambda-1' } });
  expect(reply.json()).toEqual({ success: true });
});
