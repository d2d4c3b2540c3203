// The properties of a memory backend that the migration relies on: always tested on the sandbox's two versions, and on real
// mem0 if its Python environments are installed.
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
import { failureNamed } from '../support/refused.ts';

interface Subject {
  readonly url: string;
  readonly apiKey: string;
  readonly userId: string;
  close(): Promise<void>;
}

async function sandbox(version: 'old' | 'new'): Promise<Subject> {
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
  server.grant('its-key', 'ada');
  const close = async () => {
    await server.close();
    await qdrant.close();
  };
  return { url: server.url, apiKey: 'its-key', userId: 'ada', close };
}

async function mem0(major: Mem0Major): Promise<Subject> {
  const qdrant = await startQdrantSandbox();
  const users = { 'its-key': 'ada' };
  const service = await startMem0Service({ qdrant: { url: qdrant.url }, dimensions: 8, users });
  await service.deploy(major, 'memories');
  const close = async () => {
    await service.close();
    await qdrant.close();
  };
  return { url: service.url, apiKey: 'its-key', userId: 'ada', close };
}

const SUBJECTS = [
  { name: 'old sandbox', open: () => sandbox('old'), given: true, deprecated: false },
  { name: 'new sandbox', open: () => sandbox('new'), given: true, deprecated: true },
  {
    name: 'mem0 1.x',
    open: () => mem0(1),
    given: Boolean(process.env.MEM0_1_PYTHON),
    deprecated: false,
  },
  {
    name: 'mem0 2.x',
    open: () => mem0(2),
    given: Boolean(process.env.MEM0_2_PYTHON),
    deprecated: true,
  },
];

function createBackend({ url, apiKey }: Subject): MemoryBackend {
  return createHttpMemoryBackend({ url, apiKey: createSecret(apiKey), timeoutMs: 10_000 });
}

describe.each(SUBJECTS)('the $name memory backend', ({ open, given, deprecated }) => {
  describe.skipIf(!given)('when it is configured', () => {
    let subject: Subject;
    let backend: MemoryBackend;

    beforeAll(async () => {
      subject = await open();
      backend = createBackend(subject);
    });

    afterAll(() => subject.close());

    it('says that it is healthy', async () => {
      await expect(backend.health()).resolves.toBeUndefined();
    });

    it('remembers a fact about a person, counts it and finds it', async () => {
      const before = await backend.memoryCount(subject.userId);
      await backend.addMemory(subject.userId, 'My colleague Grace Hopper lives in Amsterdam.');
      expect(await backend.memoryCount(subject.userId)).toBeGreaterThan(before);
      expect(await backend.search(subject.userId, 'Who lives in Amsterdam?')).toBeGreaterThan(0);
    });

    it('chats', async () => {
      await expect(backend.chat(subject.userId, 'Good morning')).resolves.toBeUndefined();
    });

    it('counts nothing for an unknown user', async () => {
      expect(await backend.memoryCount(`unknown-${randomUUID()}`)).toBe(0);
    });

    it('says whether its graph is deprecated', async () => {
      const answer = await backend.isGraphDeprecated(subject.userId);
      expect(answer).toBe(deprecated);
    });

    it('names a key that maps to another user', async () => {
      const attempts = [
        () => backend.addMemory('another-user', 'I play the cello.'),
        () => backend.search('another-user', 'cello'),
        () => backend.chat('another-user', 'Good morning'),
      ];
      for (const attempt of attempts) {
        await expect(attempt()).rejects.toEqual(failureNamed('RefusedKeyOfOtherUser'));
      }
    });

    it('names an unknown key', async () => {
      const stranger = createBackend({ ...subject, apiKey: 'unknown' });
      await expect(stranger.memoryCount(subject.userId)).rejects.toEqual(
        failureNamed('RefusedCredentials'),
      );
    });
  });
});
