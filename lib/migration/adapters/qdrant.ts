// The vector store of the migration, spoken over Qdrant's REST.
import type { VectorStore } from '../ports/vector-store.ts';
import { createQdrantCollections } from './qdrant/collections.ts';
import { createQdrantPoints } from './qdrant/points.ts';
import { createQdrantSnapshots } from './qdrant/snapshots.ts';
import { createTransport, type QdrantConnection } from './qdrant/transport.ts';

export function createQdrant(connection: QdrantConnection): VectorStore {
  const transport = createTransport(connection);
  return {
    ...createQdrantCollections(transport),
    ...createQdrantPoints(transport),
    ...createQdrantSnapshots(transport),
  };
}
