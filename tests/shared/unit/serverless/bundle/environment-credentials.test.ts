// A bundle uses the credentials that Lambda puts into the environment and may renew.
import { afterEach, expect, it, vi } from 'vitest';
import { ConfigurationError } from '../../../../../lib/shared/errors.ts';
import { defaultProvider } from '../../../../../serverless/bundle/environment-credentials.ts';

afterEach(() => vi.unstubAllEnvs());

const provider = defaultProvider();

function read(id?: string, secret?: string, token?: string) {
  vi.stubEnv('AWS_ACCESS_KEY_ID', id);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secret);
  vi.stubEnv('AWS_SESSION_TOKEN', token);
  return provider();
}

it("credentials are read from the environment at each call, with Lambda's session token", async () => {
  const first = { accessKeyId: 'id', secretAccessKey: 'secret' };
  expect(await read('id', 'secret')).toEqual(first);
  const renewed = { accessKeyId: 'id-2', secretAccessKey: 'secret-2', sessionToken: 'token' };
  expect(await read('id-2', 'secret-2', 'token')).toEqual(renewed);
});

it.each([
  ['id', undefined],
  [undefined, 'secret'],
  [undefined, undefined],
])('incomplete credentials (%s, %s) are refused', (id, secret) =>
  expect(read(id, secret)).rejects.toThrow(ConfigurationError),
);
