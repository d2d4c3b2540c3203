// The vector store of the migration, over Qdrant's REST: collections here, points and snapshots in files of their own.
import type { Schemas } from '@qdrant/js-client-rest';
import type { VectorCollections, VectorStore } from '../ports/vector-store.ts';
import { isRefusedWith, RetryableFailure } from '../refusals.ts';
import { createQdrantPoints } from './qdrant/points.ts';
import { createQdrantSnapshots } from './qdrant/snapshots.ts';
import {
  createTransport,
  pathOf,
  type QdrantConnection,
  type Transport,
  unexpected,
} from './qdrant/transport.ts';

export function createQdrant(connection: QdrantConnection): VectorStore {
  const transport = createTransport(connection);
  return {
    ...createQdrantCollections(transport),
    ...createQdrantPoints(transport),
    ...createQdrantSnapshots(transport),
  };
}

type ClusterStatus = { status: 'disabled' } | { status: 'enabled'; peers: object };

function createQdrantCollections({ text, result, write, change }: Transport): VectorCollections {
  async function collectionExists(collection: string): Promise<boolean> {
    const path = pathOf(collection, '/exists');
    return (await result<Schemas['CollectionExistence']>({ path })).exists;
  }

  return {
    // The root is the one response without an envelope.
    async version(): Promise<string> {
      return versionIn(await text({ path: '/' }));
    },

    async isReady(): Promise<boolean> {
      try {
        await text({ path: '/readyz', again: false });
        return true;
      } catch (error) {
        if (error instanceof RetryableFailure) return false;
        throw error;
      }
    },

    async nodeCount(): Promise<number> {
      const cluster = await result<ClusterStatus>({ path: '/cluster' });
      return cluster.status === 'enabled' ? Object.keys(cluster.peers).length : 1;
    },

    async listCollections(): Promise<string[]> {
      const found = await result<Schemas['CollectionsResponse']>({ path: '/collections' });
      return found.collections.map(({ name }) => name);
    },

    collectionExists,

    async collectionInfo(collection: string) {
      try {
        return await result<Schemas['CollectionInfo']>({ path: pathOf(collection) });
      } catch (error) {
        if (isRefusedWith(error, 404)) return undefined;
        throw error;
      }
    },

    // The name was free when the first request was sent: after a lost response, a collection of that name is ours.
    async createCollection(collection: string, body: Schemas['CreateCollection']) {
      const call = { method: 'PUT', path: pathOf(collection, '?timeout=60'), body } as const;
      await change(call, () => collectionExists(collection));
    },

    async deleteCollection(collection: string): Promise<boolean> {
      return result<boolean>({ method: 'DELETE', path: pathOf(collection, '?timeout=60') });
    },

    async createPayloadIndex(collection: string, body: Schemas['CreateFieldIndex']) {
      await write({ method: 'PUT', path: pathOf(collection, '/index?wait=true'), body });
    },

    async listAliases(): Promise<Schemas['AliasDescription'][]> {
      return (await result<Schemas['CollectionsAliasesResponse']>({ path: '/aliases' })).aliases;
    },
  };
}

/** @throws Refusal where the URL leads to something else */
function versionIn(text: string): string {
  try {
    const { version } = JSON.parse(text) as Partial<Schemas['VersionInfo']>;
    if (typeof version === 'string') return version;
  } catch {
    // Refused below, without a word of the response.
  }
  throw unexpected('GET /: the answer is not that of a Qdrant');
}
