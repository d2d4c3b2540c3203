// The vector store of the migration, over Qdrant's REST: collections here, points and snapshots in files of their own.
import type { Schemas } from '@qdrant/js-client-rest';
import type {
  CollectionInfo,
  CollectionSettings,
  CollectionUpdate,
  SparseVectorSettings,
} from '../ports/vector-store.ts';
import { isRefusedWith, isRetryableFailure, Refusal, takeAs } from '../refusals.ts';
import { createQdrantPoints } from './qdrant/points.ts';
import { createQdrantSnapshots } from './qdrant/snapshots.ts';
import {
  createTransport,
  pathOf,
  type QdrantConnection,
  type Transport,
  unlessFound,
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
  /** True for the name of an alias, too. */
  async function collectionExists(collection: string): Promise<boolean> {
    const path = pathOf(collection, '/exists');
    return (await result<Schemas['CollectionExistence']>({ path })).exists;
  }

  return {
    /** The version the store runs, such as `1.18.3`: the gate of everything that depends on it. */
    // The root is the one response without an envelope.
    async version(): Promise<string> {
      const answer = await text({ path: '/' }).catch((failure: unknown) => {
        if (isRefusedWith(failure, 404)) throw noQdrant('GET / answered 404', failure);
        throw failure;
      });
      return versionIn(answer);
    },

    async isReady(): Promise<boolean> {
      const answer = text({ path: '/readyz', again: false });
      return await answer.then(() => true, takeAs(false, isRetryableFailure));
    },

    /** How many nodes the store has; a snapshot holds the shards of one. */
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

    /** Names of collections; aliases are not among them. */
    async listCollections(): Promise<string[]> {
      const found = await result<Schemas['CollectionsResponse']>({ path: '/collections' });
      return found.collections.map(({ name }) => name);
    },

    collectionExists,

    /** Follows an alias. `undefined` when there is none of that name. */
    async collectionInfo(collection: string): Promise<CollectionInfo | undefined> {
      return await result<CollectionInfo>({ path: pathOf(collection) }).catch(unlessFound);
    },

    // The name was free when the first request was sent: after a lost response, a collection of that name is ours.
    async createCollection(collection: string, body: CollectionSettings): Promise<void> {
      const call = { method: 'PUT', path: pathOf(collection, '?timeout=60'), body } as const;
      await change(call, () => collectionExists(collection));
    },

    /** Again without harm. */
    async updateCollection(collection: string, body: CollectionUpdate): Promise<void> {
      await result({ method: 'PATCH', path: pathOf(collection, '?timeout=60'), body });
    },

    /** Its aliases go with it. False when there was none. */
    async deleteCollection(collection: string): Promise<boolean> {
      return result<boolean>({ method: 'DELETE', path: pathOf(collection, '?timeout=60') });
    },

    /** To a collection that may be in use; again without harm. 1.18 and later. */
    async addSparseVector(collection: string, name: string, sparse: SparseVectorSettings) {
      const body: Schemas['VectorNameConfig'] = { sparse };
      await write({ method: 'PUT', path: vectorPath(collection, name), body });
    },

    /** With all that is in it; again without harm. */
    async removeVector(collection: string, name: string): Promise<void> {
      await write({ method: 'DELETE', path: vectorPath(collection, name) });
    },

    async createPayloadIndex(collection: string, body: Schemas['CreateFieldIndex']) {
      await write({ method: 'PUT', path: pathOf(collection, '/index?wait=true'), body });
    },

    async listAliases(): Promise<Schemas['AliasDescription'][]> {
      return (await result<Schemas['CollectionsAliasesResponse']>({ path: '/aliases' })).aliases;
    },

    /** All of them at once, so that each always names a collection; again without harm. */
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

/** @throws Refusal where the URL leads to something else */
function versionIn(text: string): string {
  try {
    const { version } = JSON.parse(text) as Partial<Schemas['VersionInfo']>;
    if (typeof version === 'string') return version;
  } catch {
    // Refused below, without any text of the response.
  }
  throw noQdrant('the answer to GET / is not that of a Qdrant');
}

function noQdrant(found: string, cause?: unknown): Refusal {
  const why = `QDRANT_URL leads to no Qdrant: ${found}. Correct its host and port, or the path in it, which stands before every request.`;
  return new Refusal('RefusedSetting', why, { cause });
}
