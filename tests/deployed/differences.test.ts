// The differences that emulator-differences.ts makes up for still exist. Where one is gone, remove its entry.
import { CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation';
import { afterAll, expect, inject, test } from 'vitest';
import { clientOptions, stackOf } from '../../local/emulator/emulated-stage.ts';
import { createHttpClient } from '../support/api/http-client.ts';

// Not held to the API description, which has none of these responses.
const api = createHttpClient(inject('apiUrl'), { authorization: `Bearer ${inject('apiKey')}` });
afterAll(() => api.close());

test('the emulator answers its own health', async () => {
  const { body } = await api.request('GET', '/health');
  expect(body).toHaveProperty('services');
});

test('OPTIONS never reaches a route', async () => {
  const { status, body } = await api.request('OPTIONS', '/transactions');
  expect([status, body.message]).toEqual([403, 'CORS origin denied']);
});

test('an encoded slash is decoded before the route is chosen', async () => {
  const { status } = await api.request('GET', '/transactions%2F');
  expect(status).toBe(200);
});

test('an encoded percent sign stays encoded', async () => {
  const { body } = await api.request('GET', '/transactions/%25');
  expect(body.message).toContain('%25');
});

test('an API stores the CORS configuration of its template under other names', async () => {
  const { stage, environment } = inject('deployed');
  const client = new CloudFormationClient(clientOptions(environment));
  const { TemplateBody = '' } = await client.send(
    new GetTemplateCommand({ StackName: stackOf(stage) }),
  );
  const { AllowOrigins } = JSON.parse(TemplateBody).Resources.HttpApi.Properties.CorsConfiguration;
  expect(AllowOrigins).toEqual(['http://localhost:3000']);
  expect(inject('corsBeforeRepair')).toBe(403);
});
