// Real mem0 of both major versions, unmodified, on a real Qdrant and on the sandbox: the behaviour that the migration relies on.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createQdrant, type VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
import { startQdrantSandbox } from '../../../sandbox/qdrant/server.ts';
import type { Mem0Major } from '../../../sandbox/real/mem0/environments.ts';
import { type Mem0Service, startMem0Service } from '../../../sandbox/real/mem0/service.ts';
import { createMem0User, hasMem0, REAL_QDRANT } from '../support/real-services.ts';
import { pointId } from '../support/vector-stores.ts';

const DIMENSIONS = 8;
const SENTENCE = 'My colleague Grace Hopper lives in Amsterdam and plays the cello';

const STORES = [
  { store: 'the sandbox', url: undefined, isAvailable: hasMem0 },
  { store: 'a real Qdrant', url: REAL_QDRANT, isAvailable: hasMem0 && REAL_QDRANT !== undefined },
];
const VERSIONS: readonly { readonly version: string; readonly major: Mem0Major }[] = [
  { version: 'mem0 1.x', major: 1 },
  { version: 'mem0 2.x', major: 2 },
];

describe.each(STORES)('on $store', ({ url, isAvailable }) => {
  describe.skipIf(!isAvailable).each(VERSIONS)('$version', ({ major }) => {
    const collection = `mem0_${randomUUID()}`;
    const ada = createMem0User('ada');
    let service: Mem0Service;
    let store: VectorStore;
    let close: () => Promise<void>;

    beforeAll(async () => {
      const sandbox = url ? undefined : await startQdrantSandbox();
      const qdrant = { url: url ?? sandbox?.url ?? '' };
      store = createQdrant(qdrant);
      service = await startMem0Service({ qdrant, dimensions: DIMENSIONS, users: ada.keys });
      await service.deploy(major, collection);
      close = async () => {
        await service.close();
        for (const name of [collection, `${collection}_entities`])
          await store.deleteCollection(name);
        await sandbox?.close();
      };
    });
    afterAll(() => close());

    it('writes memories in the layout of its version, and finds one by its words', async () => {
      const written = await ada.add(service.url, SENTENCE);
      await ada.add(service.url, 'The rowing club meets on Tuesdays');
      expect(await ada.search(service.url, 'Who plays the cello?')).toContain(written);

      const [point] = await store.retrieve(collection, [pointId(written)]);
      const vector = JSON.parse(point?.vector ?? 'null');
      const payload = JSON.parse(point?.payload ?? 'null');
      expect(payload).toMatchObject({ user_id: 'ada', data: SENTENCE });
      const names = (await store.listCollections()).filter((name) => name.startsWith(collection));
      if (major === 1) {
        expect(vector).toHaveLength(DIMENSIONS);
        expect(names).toEqual([collection]);
      } else {
        expect(vector['']).toHaveLength(DIMENSIONS);
        expect(vector.bm25.indices).toHaveLength(7);
        expect(payload.text_lemmatized).toBe('colleague grace hopper live amsterdam play cello');
        expect(names.toSorted()).toEqual([collection, `${collection}_entities`]);
      }
    });

    it('changes and deletes a memory', async () => {
      const id = await ada.add(service.url, 'I row on Mondays');
      await ada.change(service.url, id, 'I row on Fridays');
      const [changed] = await store.retrieve(collection, [pointId(id)]);
      expect(JSON.parse(changed?.payload ?? '{}').data).toBe('I row on Fridays');
      await ada.remove(service.url, id);
      expect(await store.retrieve(collection, [pointId(id)])).toEqual([]);
    });

    it('counts all memories of a user, and takes no writes while it is frozen', async () => {
      const before = await ada.count(service.url);
      await service.setWriters({ frozenUntil: Date.now() + 3_600_000 });
      await expect(ada.add(service.url, 'Too late')).rejects.toMatchObject({ status: 503 });
      await service.setWriters({ only: 'another-user' });
      await expect(ada.add(service.url, 'Not mine')).rejects.toMatchObject({ status: 503 });
      await service.setWriters('all-users');
      expect(await ada.count(service.url)).toBe(before);
    });
  });
});
