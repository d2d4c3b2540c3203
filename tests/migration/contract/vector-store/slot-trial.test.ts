// The trial of a keyword slot, on a small collection of its own, with and without an index.
import { expect, it } from 'vitest';
import { trySlot } from '../../../../lib/migration/steps/store-probes.ts';
import { onEveryVectorStore } from '../../support/vector-stores.ts';

onEveryVectorStore((subject) => {
  it('succeeds on a collection without an index, and leaves nothing', async () => {
    const collection = await subject.collection('not-created');
    await trySlot(subject.store, { collection, isIndexed: false });
    expect(await subject.store.collectionExists(collection)).toBe(false);
  });

  // A build of 1.18.2 with debug assertions stops optimizing, so the refusal is right there; other builds succeed.
  it('succeeds on an indexed one, or is refused with the complaint of the optimizer', async () => {
    const collection = await subject.collection('not-created');
    const outcome = await trySlot(subject.store, { collection, isIndexed: true }).then(
      () => 'succeeded',
      ({ name, message }: Error) => `${name} ${message}`,
    );
    expect(outcome).toMatch(
      /^succeeded$|^RefusedByService .*its optimizer .*EmptySparseVectorStorage/,
    );
    expect(await subject.store.collectionExists(collection)).toBe(false);
  });
}, 'vectorSlots');
