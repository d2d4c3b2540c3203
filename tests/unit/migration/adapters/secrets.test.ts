// Secrets are found where they are kept, and shown nowhere.
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  createEnvironmentSecrets,
  createSecret,
  createSsmSecrets,
} from '../../../../lib/migration/adapters/secrets.ts';
import { createParameterStore } from '../../../support/migration/parameter-store.ts';
import { named } from '../../../support/migration/refused.ts';

describe('a secret', () => {
  const secret = createSecret('s3cr3t');

  it.each([
    ['text', `${secret}`],
    ['JSON', JSON.stringify({ secret })],
    ['inspected', inspect({ secret }, { depth: 9, showHidden: true })],
    ['keys', Object.values({ ...secret }).join()],
  ])('does not show as %s', (_, shown) => {
    expect(shown).not.toContain('s3cr3t');
  });

  it('is revealed when asked', () => {
    expect(secret.reveal()).toBe('s3cr3t');
  });
});

describe('secrets', () => {
  it('come from the environment', async () => {
    const secrets = createEnvironmentSecrets({ MEMORY_BACKEND_KEY: 'k' });
    expect((await secrets.read('MEMORY_BACKEND_KEY')).reveal()).toBe('k');
    await expect(secrets.read('QDRANT_KEY')).rejects.toThrow(/QDRANT_KEY is not set/);
  });

  it('come from the parameter that the environment names', async () => {
    const { client, set } = createParameterStore();
    set('/memory/key', 'k');
    const environment = {
      MEMORY_BACKEND_KEY_PARAMETER: '/memory/key',
      QDRANT_KEY_PARAMETER: '/qdrant/missing',
    };
    const secrets = createSsmSecrets({ client, environment });
    expect((await secrets.read('MEMORY_BACKEND_KEY')).reveal()).toBe('k');
    await expect(secrets.read('QDRANT_KEY')).rejects.toEqual(named('RefusedSetting'));
    await expect(secrets.read('OTHER_KEY')).rejects.toThrow(/OTHER_KEY_PARAMETER is not set/);
  });
});
