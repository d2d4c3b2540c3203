import { afterEach, describe, expect, it, vi } from 'vitest';
import { ConfigurationError } from '../../../../lib/errors.ts';
import { defaultProvider } from '../../../../serverless/bundle/environment-credentials.ts';

afterEach(() => vi.unstubAllEnvs());

describe('environment credentials', () => {
  it('are those of the environment, with the session token that Lambda gives', async () => {
    stub({ id: 'id', secret: 'secret', token: 'token' });
    expect(await defaultProvider()()).toEqual({
      accessKeyId: 'id',
      secretAccessKey: 'secret',
      sessionToken: 'token',
    });
  });

  it('have no session token where there is none', async () => {
    stub({ id: 'id', secret: 'secret' });
    expect(await defaultProvider()()).toEqual({ accessKeyId: 'id', secretAccessKey: 'secret' });
  });

  it('are read at each call: Lambda may renew them', async () => {
    const provider = defaultProvider();
    stub({ id: 'first', secret: 'secret' });
    await provider();
    stub({ id: 'second', secret: 'secret' });
    expect(await provider()).toMatchObject({ accessKeyId: 'second' });
  });

  it.each([{ id: 'id' }, { secret: 'secret' }, {}])(
    'that are incomplete (%j) are refused',
    (part) => {
      stub(part);
      return expect(defaultProvider()()).rejects.toThrow(ConfigurationError);
    },
  );
});

function stub({ id, secret, token }: { id?: string; secret?: string; token?: string }): void {
  vi.stubEnv('AWS_ACCESS_KEY_ID', id);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secret);
  vi.stubEnv('AWS_SESSION_TOKEN', token);
}
