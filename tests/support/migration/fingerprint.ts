// What a collection holds, for a comparison with what it held before.
import type { VectorPoints } from '../../../lib/migration/ports/vector-store.ts';
import { scan } from '../../../lib/migration/scan.ts';

export async function fingerprintOf(store: Pick<VectorPoints, 'scroll'>, collection: string) {
  const { digest, points } = (await scan({ store, collection })).contents;
  return { digest, points };
}
