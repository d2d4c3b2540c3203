// The vector store over Qdrant's REST API: collections here, points and snapshots in their own files
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
  collectionPath,
  createTransport,
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

function createQdrantCollections({ fetchText, fetchResult, write, changeOnce }: Transport) {
  /** Also returns true for an alias. */
  async function collectionExists(collection: string): Promise<boolean> {
    const path = collectionPath(collection, '/exists');
    return (await fetchResult<Schemas['CollectionExistence']>({ path })).exists;
  }

  return {
    /** Fetches the version of the store, such as `1.18.3`. */
    // Only the response to GET / has no envelope.
    async fetchVersion(): Promise<string> {
      const response = await fetchText({ path: '/' }).catch((failure: unknown) => {
        if (isRefusedWith(failure, 404)) throw refuseOtherService('GET / answered 404', failure);
        throw failure;
      });
      return parseVersion(response);
    },

    async isReady(): Promise<boolean> {
      const response = fetchText({ path: '/readyz', isRetried: false });
      return await response.then(() => true, recoverWith(false, isRetryableFailure));
    },

    /** Counts the nodes; a snapshot contains the shards of only one. */
    async countNodes(): Promise<number> {
      const cluster = await fetchResult<ClusterStatus>({ path: '/cluster' });
      return cluster.status === 'enabled' ? Object.keys(cluster.peers).length : 1;
    },

    /** Lists the state of each shard of the collection, such as `Active`. */
    async listShardStates(collection: string): Promise<string[]> {
      const path = collectionPath(collection, '/cluster');
      const info = await fetchResult<Schemas['CollectionClusterInfo']>({ path });
      return [...info.local_shards, ...info.remote_shards].map(({ state }) => state);
    },

    /** Lists the names of collections, without aliases. */
    async listCollections(): Promise<string[]> {
      const { collections } = await fetchResult<Schemas['CollectionsResponse']>({
        path: '/collections',
      });
      return collections.map(({ name }) => name);
    },

    collectionExists,

    /** Follows an alias. @returns undefined if the collection does not exist */
    async readCollectionInfo(collection: string): Promise<CollectionInfo | undefined> {
      return await fetchResult<CollectionInfo>({ path: collectionPath(collection) }).catch(
        undefinedIfNotFound,
      );
    },

    // The caller has checked that the name is free: if the collection exists after a lost response, this request created it.
    async createCollection(collection: string, body: CollectionSettings): Promise<void> {
      const call = {
        method: 'PUT',
        path: collectionPath(collection, '?timeout=60'),
        body,
      } as const;
      await changeOnce(call, () => collectionExists(collection));
    },

    /** Can be repeated. */
    async updateCollection(collection: string, body: CollectionUpdate): Promise<void> {
      await fetchResult({ method: 'PATCH', path: collectionPath(collection, '?timeout=60'), body });
    },

    /** Also deletes the collection's aliases. @returns false if it did not exist */
    async deleteCollection(collection: string): Promise<boolean> {
      return await fetchResult<boolean>({
        method: 'DELETE',
        path: collectionPath(collection, '?timeout=60'),
      });
    },

    /** Adds a named vector, even to a collection in use. Can be repeated. Needs Qdrant 1.18. */
    async addSparseVector(collection: string, name: string, sparse: SparseVectorSettings) {
      const body: Schemas['VectorNameConfig'] = { sparse };
      await write({ method: 'PUT', path: formatVectorPath(collection, name), body });
    },

    /** Removes a named vector from all points. Can be repeated. */
    async removeVector(collection: string, name: string): Promise<void> {
      await write({ method: 'DELETE', path: formatVectorPath(collection, name) });
    },

    async createPayloadIndex(collection: string, body: Schemas['CreateFieldIndex']) {
      await write({ method: 'PUT', path: collectionPath(collection, '/index?wait=true'), body });
    },

    async listAliases(): Promise<Schemas['AliasDescription'][]> {
      return (await fetchResult<Schemas['CollectionsAliasesResponse']>({ path: '/aliases' }))
        .aliases;
    },

    /** Moves all aliases in one request, so that each always names a collection. Can be repeated. */
    async moveAliases(aliases: readonly string[], collection_name: string): Promise<void> {
      const actions = aliases.flatMap((alias_name) => [
        { delete_alias: { alias_name } },
        { create_alias: { alias_name, collection_name } },
      ]);
      const body: Schemas['ChangeAliasesOperation'] = { actions };
      await fetchResult({ method: 'POST', path: '/collections/aliases?timeout=60', body });
    },
  };
}

function formatVectorPath(collection: string, name: string): string {
  return collectionPath(collection, `/vectors/${encodeURIComponent(name)}?wait=true`);
}

/** @throws Refusal if the response comes from another service */
function parseVersion(response: string): string {
  try {
    const { version } = JSON.parse(response) as Partial<Schemas['VersionInfo']>;
    if (typeof version === 'string') return version;
  } catch {
    // Refused below. The message must not quote the response.
  }
  throw refuseOtherService('the response to GET / is not from Qdrant');
}

function refuseOtherService(reason: string, cause?: unknown): Refusal {
  const why = `QDRANT_URL does not lead to Qdrant: ${reason}. Correct its host, port or path; request paths are appended to it.`;
  return new Refusal('RefusedSetting', why, { cause });
}
