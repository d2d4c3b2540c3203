// Whether a switch may come: not before the store has indexed what the new collection holds.
import { describe, expect, it } from 'vitest';
import { untilIndexed } from '../../../lib/migration/configuration.ts';
import type {
  CollectionInfo,
  CollectionUpdate,
} from '../../../lib/migration/ports/vector-store.ts';
import type { Services } from '../../../lib/migration/services.ts';
import { named } from '../support/refused.ts';

function indexing(found: Partial<CollectionInfo>) {
  const info = { optimizer_status: 'ok', points_count: 60, indexed_vectors_count: 7, ...found };
  const updates: CollectionUpdate[] = [];
  const vectors = {
    collectionInfo: async () => info as CollectionInfo,
    updateCollection: async (_: string, update: CollectionUpdate) => void updates.push(update),
  };
  const services = { vectors } as unknown as Services;
  return { updates, wait: untilIndexed({ services, renew: async () => {} }, 'memories_v3') };
}

describe('what is waited for until a collection is indexed', () => {
  it('is nothing when the store says green', async () => {
    expect(await indexing({ status: 'green' }).wait).toBeUndefined();
  });

  it.each(['yellow', 'grey'] as const)('is the index while the store says %s', async (status) => {
    const { wait, updates } = indexing({ status });
    const waitsFor = 'the index of memories_v3: 7 vectors of 60 points';
    expect(await wait).toMatchObject({ done: false, waitsFor });
    expect(updates).toHaveLength(status === 'grey' ? 1 : 0);
  });

  it.each([
    ['is red', { status: 'red' }, 'memories_v3: The collection is red'],
    [
      'has an optimizer error',
      { status: 'yellow', optimizer_status: { error: 'No space left on device' } },
      'No space left on device',
    ],
  ] as const)('is nothing where it %s: that is refused', async (_, found, why) => {
    await expect(indexing(found).wait).rejects.toEqual(named('RefusedByService', why));
  });
});
