// The vector store over Qdrant's REST API: collections here, points and snapshots in files of their own
import type { Schemas } from '@qdrant/js-client-rest';
import type {
  CollectionInfo,
  CollectionSettings,
  CollectionUpdate,
  SparseVectorSettings,
} from '../ports/vector-store.ts';
import { isRefusedWith, isRetryableFailure, Refusal, recoverWith } from '../refusals.ts';
import { createQdrantPoints } from './qdrant/points.ts';
import { createQdrantSnapshots } from './qdrant/snapshots.ts';
import {
  createTransport,
  pathOf,
  type QdrantConnection,
  type Transport,
  undefinedIfNotFound,
} from './qdrant/transport.ts';

export type VectorStore = ReturnType<typeof createQdrant>;

export function createQdrant(connection: QdrantConnection) {
  const transport = createTransport(connection);
  return {
    ...createQdrantCollections(transport),
    ...createQdrantPoints(transport),
    ...createQdrantSnapshots(transport),
  };
}

type ClusterStatus = { status: 'disabled' } | { status: 'enabled'; peers: object };

function createQdrantCollections({ text, result, write, change }: Transport) {
  /** True also for the name of an alias */
  async function collectionExists(collection: string): Promise<boolean> {
    const path = pathOf(collection, '/exists');
    return (await result<Schemas['CollectionExistence']>({ path })).exists;
  }

  return {
    /** Version of the store, such as `1.18.3` */
    // The root is the only response without an envelope.
    async version(): Promise<string> {
      const answer = await text({ path: '/' }).catch((failure: unknown) => {
        if (isRefusedWith(failure, 404)) throw notQdrant('GET / answered 404', failure);
        throw failure;
      });
      return readVersion(answer);
    },

    async isReady(): Promise<boolean> {
      const answer = text({ path: '/readyz', isRetried: false });
      return await answer.then(() => true, recoverWith(false, isRetryableFailure));
    },

    /** Number of nodes; a snapshot holds the shards of one. */
    async nodeCount(): Promise<number> {
      const cluster = await result<ClusterStatus>({ path: '/cluster' });
      return cluster.status === 'enabled' ? Object.keys(cluster.peers).length : 1;
    },

    /** State of each shard of the collection, such as `Active` */
    async shardStates(collection: string): Promise<string[]> {
      const path = pathOf(collection, '/cluster');
      const info = await result<Schemas['CollectionClusterInfo']>({ path });
      return [...info.local_shards, ...info.remote_shards].map(({ state }) => state);
    },

    /** Names of collections, without aliases */
    async listCollections(): Promise<string[]> {
      const found = await result<Schemas['CollectionsResponse']>({ path: '/collections' });
      return found.collections.map(({ name }) => name);
    },

    collectionExists,

    /** Follows an alias. Undefined if there is no such collection. */
    async collectionInfo(collection: string): Promise<CollectionInfo | undefined> {
      return await result<CollectionInfo>({ path: pathOf(collection) }).catch(undefinedIfNotFound);
    },

    // The caller found the name free: after a lost response, a collection of that name is ours.
    async createCollection(collection: string, body: CollectionSettings): Promise<void> {
      const call = { method: 'PUT', path: pathOf(collection, '?timeout=60'), body } as const;
      await change(call, () => collectionExists(collection));
    },

    /** Can be repeated. */
    async updateCollection(collection: string, body: CollectionUpdate): Promise<void> {
      await result({ method: 'PATCH', path: pathOf(collection, '?timeout=60'), body });
    },

    /** Also deletes its aliases. False if there was no such collection. */
    async deleteCollection(collection: string): Promise<boolean> {
      return result<boolean>({ method: 'DELETE', path: pathOf(collection, '?timeout=60') });
    },

    /** Adds a slot, even to a collection in use. Can be repeated. Needs Qdrant 1.18. */
    async addSparseVector(collection: string, name: string, sparse: SparseVectorSettings) {
      const body: Schemas['VectorNameConfig'] = { sparse };
      await write({ method: 'PUT', path: vectorPath(collection, name), body });
    },

    /** Removes a slot with its vectors. Can be repeated. */
    async removeVector(collection: string, name: string): Promise<void> {
      await write({ method: 'DELETE', path: vectorPath(collection, name) });
    },

    async createPayloadIndex(collection: string, body: Schemas['CreateFieldIndex']) {
      await write({ method: 'PUT', path: pathOf(collection, '/index?wait=true'), body });
    },

    async listAliases(): Promise<Schemas['AliasDescription'][]> {
      return (await result<Schemas['CollectionsAliasesResponse']>({ path: '/aliases' })).aliases;
    },

    /** Moves all aliases at once, so that each always names a collection. Can be repeated. */
    async pointAliases(aliases: readonly string[], collection_name: string): Promise<void> {
      const actions = aliases.flatMap((alias_name) => [
        { delete_alias: { alias_name } },
        { create_alias: { alias_name, collection_name } },
      ]);
      const body: Schemas['ChangeAliasesOperation'] = { actions };
      await result({ method: 'POST', path: '/collections/aliases?timeout=60', body });
    },
  };
}

function vectorPath(collection: string, name: string): string {
  return pathOf(collection, `/vectors/${encodeURIComponent(name)}?wait=true`);
}

/** @throws Refusal if the URL leads to another service */
function readVersion(text: string): string {
  try {
    const { version } = JSON.parse(text) as Partial<Schemas['VersionInfo']>;
    if (typeof version === 'string') return version;
  } catch {
    // Refused below, without any text of the response.
  }
  throw notQdrant('the answer to GET / is not from Qdrant');
}

function notQdrant(found: string, cause?: unknown): Refusal {
  const why = `QDRANT_URL does not lead to Qdrant: ${found}. Correct its host, port or path; request paths are appended to it.`;
  return new Refusal('RefusedSetting', why, { cause });
}
