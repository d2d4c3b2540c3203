// Secrets are read from the environment or from AWS, and never shown.
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createSecret, createSecrets } from '../../../../lib/migration/adapters/secrets.ts';
import { createParameterStore } from '../../support/parameter-store.ts';
import { failureNamed } from '../../support/refused.ts';

describe('a secret', () => {
  const secret = createSecret('s3cr3t');

  it.each([
    ['text', `${secret}`],
    ['JSON', JSON.stringify({ secret })],
    ['inspected', inspect({ secret }, { depth: 9, showHidden: true })],
    ['keys', Object.values({ ...secret }).join()],
  ])('is not shown as %s', (_, shown) => {
    expect(shown).not.toContain('s3cr3t');
  });

  it('is revealed on request', () => {
    expect(secret.reveal()).toBe('s3cr3t');
  });
});

it('secrets are read from the environment, or from the parameter that a variable names', async () => {
  const { client, set } = createParameterStore();
  set('/memory/key', 'from-the-parameter');
  const secrets = createSecrets({
    client,
    environment: {
      NEO4J_PASSWORD: 'from-the-environment',
      MEMORY_BACKEND_KEY: 'from-the-environment',
      MEMORY_BACKEND_KEY_PARAMETER: '/memory/key',
      QDRANT_API_KEY: 'from-the-environment',
      QDRANT_API_KEY_PARAMETER: '/qdrant/missing',
    },
  });
  expect((await secrets.read('NEO4J_PASSWORD')).reveal()).toBe('from-the-environment');
  expect((await secrets.read('MEMORY_BACKEND_KEY')).reveal()).toBe('from-the-parameter');
  expect(await secrets.find('OTHER_KEY')).toBeUndefined();
  for (const absent of ['QDRANT_API_KEY', 'OTHER_KEY']) {
    await expect(secrets.read(absent)).rejects.toEqual(failureNamed('RefusedSetting'));
  }
});
