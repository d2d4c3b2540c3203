// Collections, their indexes and aliases, and the store itself, over Qdrant's REST.
import type { Schemas } from '@qdrant/js-client-rest';
import type { VectorCollections } from '../../ports/vector-store.ts';
import {
  UnexpectedReplyError,
  VectorStoreRefusedError,
  VectorStoreUnavailableError,
} from '../../ports/vector-store-errors.ts';
import { pathOf } from './paths.ts';
import type { Transport } from './transport.ts';
import { completed } from './write-result.ts';

type ClusterStatus = { status: 'disabled' } | { status: 'enabled'; peers: object };

export function createQdrantCollections({ text, result }: Transport): VectorCollections {
  // The root is the one answer without an envelope.
  async function version(): Promise<string> {
    return versionIn(await text({ path: '/' }));
  }

  async function isReady(): Promise<boolean> {
    try {
      await text({ path: '/readyz', again: false });
      return true;
    } catch (error) {
      if (error instanceof VectorStoreUnavailableError) return false;
      throw error;
    }
  }

  async function nodeCount(): Promise<number> {
    const cluster = await result<ClusterStatus>({ path: '/cluster' });
    return cluster.status === 'enabled' ? Object.keys(cluster.peers).length : 1;
  }

  async function listCollections(): Promise<string[]> {
    const found = await result<Schemas['CollectionsResponse']>({ path: '/collections' });
    return found.collections.map(({ name }) => name);
  }

  async function collectionExists(collection: string): Promise<boolean> {
    const path = pathOf(collection, '/exists');
    return (await result<Schemas['CollectionExistence']>({ path })).exists;
  }

  async function collectionInfo(collection: string) {
    try {
      return await result<Schemas['CollectionInfo']>({ path: pathOf(collection) });
    } catch (error) {
      if (error instanceof VectorStoreRefusedError && error.status === 404) return undefined;
      throw error;
    }
  }

  async function createCollection(collection: string, body: Schemas['CreateCollection']) {
    await result({ method: 'PUT', path: pathOf(collection, '?timeout=60'), body });
  }

  async function deleteCollection(collection: string): Promise<boolean> {
    return result<boolean>({ method: 'DELETE', path: pathOf(collection, '?timeout=60') });
  }

  async function createPayloadIndex(collection: string, body: Schemas['CreateFieldIndex']) {
    const call = { method: 'PUT', path: pathOf(collection, '/index?wait=true'), body } as const;
    completed(call, await result(call));
  }

  async function createVectorName(
    collection: string,
    name: string,
    body: Schemas['VectorNameConfig'],
  ) {
    const path = pathOf(collection, `/vectors/${encodeURIComponent(name)}?wait=true`);
    const call = { method: 'PUT', path, body } as const;
    completed(call, await result(call));
  }

  async function listAliases(): Promise<Schemas['AliasDescription'][]> {
    return (await result<Schemas['CollectionsAliasesResponse']>({ path: '/aliases' })).aliases;
  }

  async function changeAliases(actions: Schemas['AliasOperations'][]): Promise<void> {
    const body: Schemas['ChangeAliasesOperation'] = { actions };
    await result({ method: 'POST', path: '/collections/aliases', body, again: false });
  }

  return {
    version,
    isReady,
    nodeCount,
    listCollections,
    collectionExists,
    collectionInfo,
    createCollection,
    deleteCollection,
    createPayloadIndex,
    createVectorName,
    listAliases,
    changeAliases,
  };
}

/** @throws UnexpectedReplyError where the URL leads to something else */
function versionIn(text: string): string {
  try {
    const { version } = JSON.parse(text) as Partial<Schemas['VersionInfo']>;
    if (typeof version === 'string') return version;
  } catch {
    // Told below, without a word of what was answered.
  }
  throw new UnexpectedReplyError('GET /: the answer is not that of a Qdrant');
}
