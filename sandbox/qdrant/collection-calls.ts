// Handles the calls on collections, and on their payload indexes, vector names and aliases.
import { isDeepStrictEqual } from 'node:util';
import type { Schemas } from '@qdrant/js-client-rest';
import { toInfo, undoDeletions, updateCollection } from './collection.ts';
import { BareJson, type Exchange, jsonBody, readName } from './exchange.ts';
import { Refusal, wrongInput } from './refusal.ts';
import type { SandboxState } from './state.ts';
import { removeSlots } from './vectors.ts';
import { hasFeature } from './versions.ts';
import { numberWrite } from './write-order.ts';

export function createCollectionCalls({ registry, version }: SandboxState) {
  function root() {
    const info: Schemas['VersionInfo'] = { title: 'qdrant - vector search engine', version };
    return new BareJson(info);
  }

  function list(): Schemas['CollectionsResponse'] {
    return { collections: registry.names().map((name) => ({ name })) };
  }

  function info(exchange: Exchange) {
    return toInfo(registry.get(readName(exchange, 'collection')));
  }

  function shards(exchange: Exchange): Schemas['CollectionClusterInfo'] {
    const points_count = registry.get(readName(exchange, 'collection')).points.size();
    return {
      peer_id: 1,
      shard_count: 1,
      remote_shards: [],
      shard_transfers: [],
      local_shards: [{ shard_id: 0, points_count, state: 'Active' }],
    };
  }

  function exists(exchange: Exchange): Schemas['CollectionExistence'] {
    return { exists: registry.has(readName(exchange, 'collection')) };
  }

  function create(exchange: Exchange): boolean {
    registry.create(
      readName(exchange, 'collection'),
      jsonBody<Schemas['CreateCollection']>(exchange),
    );
    return true;
  }

  function update(exchange: Exchange): boolean {
    const collection = registry.get(readName(exchange, 'collection'));
    updateCollection(collection, jsonBody<Schemas['UpdateCollection']>(exchange));
    return true;
  }

  function remove(exchange: Exchange): boolean {
    return registry.remove(readName(exchange, 'collection'));
  }

  function createIndex(exchange: Exchange): Schemas['UpdateResult'] {
    const collection = registry.get(readName(exchange, 'collection'));
    const { field_name, field_schema } = jsonBody<Schemas['CreateFieldIndex']>(exchange);
    const schema = (field_schema ?? 'keyword') as Schemas['PayloadFieldSchema'];
    collection.indexes.set(field_name, schema);
    return numberWrite(exchange, collection);
  }

  function addVector(exchange: Exchange): Schemas['UpdateResult'] {
    const { collection, name, slots } = findSlots(exchange);
    const { sparse } = jsonBody<Schemas['SparseVectorNameConfig']>(exchange);
    if (slots[name] && !isDeepStrictEqual(slots[name], sparse)) {
      const reason = 'already exists with a different configuration';
      throw wrongInput(`Sparse vector \`${name}\` ${reason}`);
    }
    collection.params = { ...collection.params, sparse_vectors: { ...slots, [name]: sparse } };
    undoDeletions(collection);
    return numberWrite(exchange, collection);
  }

  function removeVector(exchange: Exchange): Schemas['UpdateResult'] {
    const { collection, name, slots } = findSlots(exchange);
    const { [name]: _, ...sparse_vectors } = slots;
    collection.params = { ...collection.params, sparse_vectors };
    undoDeletions(collection);
    for (const point of collection.points.all()) {
      if (point.sparse?.has(name)) collection.points.put(removeSlots(point, new Set([name])));
    }
    return numberWrite(exchange, collection);
  }

  function findSlots(exchange: Exchange) {
    if (!hasFeature(version, 'vectorSlots')) throw new Refusal(404, '', { plain: true });
    const collection = registry.get(readName(exchange, 'collection'));
    const slots = collection.params.sparse_vectors ?? {};
    return { collection, name: readName(exchange, 'vector'), slots };
  }

  function changeAliases(exchange: Exchange): boolean {
    registry.changeAliases(jsonBody<Schemas['ChangeAliasesOperation']>(exchange).actions);
    return true;
  }

  function listAliases(): Schemas['CollectionsAliasesResponse'] {
    return { aliases: registry.aliases() };
  }

  function listAliasesOfCollection(exchange: Exchange): Schemas['CollectionsAliasesResponse'] {
    const name = readName(exchange, 'collection');
    registry.get(name);
    return {
      aliases: registry.aliases().filter(({ collection_name }) => collection_name === name),
    };
  }

  return {
    root,
    list,
    info,
    shards,
    exists,
    create,
    update,
    remove,
    createIndex,
    addVector,
    removeVector,
    changeAliases,
    listAliases,
    listAliasesOfCollection,
  };
}
