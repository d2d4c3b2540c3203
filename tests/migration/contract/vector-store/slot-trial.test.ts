// The trial of a slot on a collection of its own, as small as one in use may be, and indexed.
import { expect, it } from 'vitest';
import { trySlot } from '../../../../lib/migration/steps/store-probes.ts';
import { onEveryVectorStore } from '../../support/vector-stores.ts';

onEveryVectorStore((under) => {
  it('succeeds on a collection without an index, and leaves nothing', async () => {
    const collection = await under.collection('not-made');
    await trySlot(under.store, { collection, isIndexed: false });
    expect(await under.store.collectionExists(collection)).toBe(false);
  });

  // A build of 1.18.2 with debug assertions stops optimizing; others do not.
  it('succeeds on an indexed one, or is refused with the complaint of the optimizer', async () => {
    const collection = await under.collection('not-made');
    const outcome = await trySlot(under.store, { collection, isIndexed: true }).then(
      () => 'succeeded',
      ({ name, message }: Error) => `${name} ${message}`,
    );
    expect(outcome).toMatch(
      /^succeeded$|^RefusedByService .*its optimizer .*EmptySparseVectorStorage/,
    );
    expect(await under.store.collectionExists(collection)).toBe(false);
  });
}, 'vectorSlots');
