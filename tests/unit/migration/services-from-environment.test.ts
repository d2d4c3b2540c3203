// What the environment of a migration's functions has to say, and how a gap is named.
import { describe, expect, it } from 'vitest';
import { servicesFromEnvironment } from '../../../lib/migration/services-from-environment.ts';

const COMPLETE: Readonly<Record<string, string>> = {
  TABLE_NAME: 'table',
  QDRANT_URL: 'http://127.0.0.1:6333',
  MEMORY_BACKEND_URL: 'http://127.0.0.1:8000',
  MEMORY_BACKEND_KEY: 'key',
  COLLECTION_SETTING: 'file:///etc/memory/collection',
  ARTIFACTS_URL: 'file:///var/artifacts',
};

describe('the environment', () => {
  it('is enough as it stands in the guide, with a person in place of a webhook', async () => {
    const services = await servicesFromEnvironment(COMPLETE);
    expect(services).toMatchObject({ preview: undefined, graph: undefined });
    const asked = { action: 'freeze', runId: 'r', phase: 'freezing', collection: 'c' } as const;
    const answer = services.hooks.ask({ ...asked, testUser: 't', deadlineAt: undefined });
    expect(await answer).toBe('asked-of-a-person');
  });

  it('may name a preview of the new version', async () => {
    const services = await servicesFromEnvironment({
      ...COMPLETE,
      MEMORY_PREVIEW_URL: 'http://127.0.0.1:8001',
    });
    expect(services.preview).toBeDefined();
  });

  it.each(Object.keys(COMPLETE))('without %s says so', async (name) => {
    const { [name]: _, ...others } = COMPLETE;
    await expect(servicesFromEnvironment(others)).rejects.toThrow(`${name} is not set`);
  });

  it.each([
    ['COLLECTION_SETTING', 'https://example.org', /neither file:.* nor ssm:/],
    ['ARTIFACTS_URL', 'ftp://example.org', /neither s3:.* nor file:/],
  ])('with an unusable %s says what is', async (name, value, message) => {
    const environment = { ...COMPLETE, [name]: value };
    await expect(servicesFromEnvironment(environment)).rejects.toThrow(message);
  });
});
