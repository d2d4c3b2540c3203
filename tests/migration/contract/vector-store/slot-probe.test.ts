// The probe of a keyword slot, on a small separate collection, with and without an index.
import { expect, it } from 'vitest';
import { trySlot } from '../../../../lib/migration/steps/store-probes.ts';
import { onEveryVectorStore } from '../../support/vector-stores.ts';

onEveryVectorStore((subject) => {
  it('the probe of a slot succeeds on a collection without an index, and leaves nothing', async () => {
    const collection = await subject.collection('not-created');
    await trySlot(subject.store, { collection, isIndexed: false });
    expect(await subject.store.collectionExists(collection)).toBe(false);
  });

  // A build of 1.18.2 with debug assertions stops optimizing, so the probe is rightly refused; with other builds it succeeds.
  it('the probe of a slot succeeds on an indexed collection, or is refused with the error of the optimizer', async () => {
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
