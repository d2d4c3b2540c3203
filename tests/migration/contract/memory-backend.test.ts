// The behaviour of a memory backend that the migration relies on. Tested on both versions of the sandbox;
// `npm run test:real` tests real mem0 instead.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createHttpMemoryBackend,
  type MemoryBackend,
} from '../../../lib/migration/adapters/http-memory-backend.ts';
import { createQdrant } from '../../../lib/migration/adapters/qdrant.ts';
import { createSecret } from '../../../lib/migration/adapters/secrets.ts';
import { startNewVersion } from '../../../sandbox/memory-backend/new-version.ts';
import { startOldVersion } from '../../../sandbox/memory-backend/old-version.ts';
import { startMemoryBackendSandbox } from '../../../sandbox/memory-backend/server.ts';
import { startQdrantSandbox } from '../../../sandbox/qdrant/server.ts';
import type { Mem0Major } from '../../../sandbox/real/mem0/environments.ts';
import { startMem0Service } from '../../../sandbox/real/mem0/service.ts';
import { ONLY_REAL } from '../support/real-services.ts';
import { failureNamed } from '../support/refused.ts';

interface BackendUnderTest {
  readonly url: string;
  readonly apiKey: string;
  readonly userId: string;
  close(): Promise<void>;
}

async function openSandbox(version: 'old' | 'new'): Promise<BackendUnderTest> {
  const qdrant = await startQdrantSandbox();
  const server = await startMemoryBackendSandbox();
  const settings = {
    store: createQdrant({ url: qdrant.url }),
    collection: 'memories',
    dimensions: 8,
    now: () => new Date(),
  };
  const start = version === 'old' ? startOldVersion : startNewVersion;
  server.deploy(await start(settings));
  server.grant('key-of-ada', 'ada');
  const close = async () => {
    await server.close();
    await qdrant.close();
  };
  return { url: server.url, apiKey: 'key-of-ada', userId: 'ada', close };
}

async function openMem0(major: Mem0Major): Promise<BackendUnderTest> {
  const qdrant = await startQdrantSandbox();
  const users = { 'key-of-ada': 'ada' };
  const service = await startMem0Service({ qdrant: { url: qdrant.url }, dimensions: 8, users });
  await service.deploy(major, 'memories');
  const close = async () => {
    await service.close();
    await qdrant.close();
  };
  return { url: service.url, apiKey: 'key-of-ada', userId: 'ada', close };
}

const SANDBOXES = [
  {
    name: 'old sandbox',
    open: () => openSandbox('old'),
    isAvailable: true,
    isGraphDeprecated: false,
  },
  {
    name: 'new sandbox',
    open: () => openSandbox('new'),
    isAvailable: true,
    isGraphDeprecated: true,
  },
];

const BACKENDS = [
  ...(ONLY_REAL ? [] : SANDBOXES),
  {
    name: 'mem0 1.x',
    open: () => openMem0(1),
    isAvailable: Boolean(process.env.MEM0_1_PYTHON),
    isGraphDeprecated: false,
  },
  {
    name: 'mem0 2.x',
    open: () => openMem0(2),
    isAvailable: Boolean(process.env.MEM0_2_PYTHON),
    isGraphDeprecated: true,
  },
];

function createBackend({ url, apiKey }: BackendUnderTest): MemoryBackend {
  return createHttpMemoryBackend({ url, apiKey: createSecret(apiKey), timeoutMs: 10_000 });
}

describe.each(BACKENDS)('the $name memory backend', ({ open, isAvailable, isGraphDeprecated }) => {
  describe.skipIf(!isAvailable)('if it is available', () => {
    let subject: BackendUnderTest;
    let backend: MemoryBackend;

    beforeAll(async () => {
      subject = await open();
      backend = createBackend(subject);
    });

    afterAll(() => subject.close());

    it('reports that it is healthy', async () => {
      await expect(backend.health()).resolves.toBeUndefined();
    });

    it('stores a fact about a person, counts it and finds it', async () => {
      const before = await backend.countMemories(subject.userId);
      await backend.addMemory(subject.userId, 'My colleague Grace Hopper lives in Amsterdam.');
      expect(await backend.countMemories(subject.userId)).toBeGreaterThan(before);
      expect(await backend.search(subject.userId, 'Who lives in Amsterdam?')).toBeGreaterThan(0);
    });

    it('answers a chat message', async () => {
      await expect(backend.chat(subject.userId, 'Good morning')).resolves.toBeUndefined();
    });

    it('counts no memories of an unknown user', async () => {
      expect(await backend.countMemories(`unknown-${randomUUID()}`)).toBe(0);
    });

    it('reports whether its graph is deprecated', async () => {
      expect(await backend.isGraphDeprecated(subject.userId)).toBe(isGraphDeprecated);
    });

    it('refuses access to the memories of another user', async () => {
      const attempts = [
        () => backend.addMemory('another-user', 'I play the cello.'),
        () => backend.search('another-user', 'cello'),
        () => backend.chat('another-user', 'Good morning'),
      ];
      for (const attempt of attempts) {
        await expect(attempt()).rejects.toEqual(failureNamed('RefusedKeyOfOtherUser'));
      }
    });

    it('refuses an unknown key', async () => {
      const withUnknownKey = createBackend({ ...subject, apiKey: 'unknown' });
      await expect(withUnknownKey.countMemories(subject.userId)).rejects.toEqual(
        failureNamed('RefusedCredentials'),
      );
    });
  });
});
