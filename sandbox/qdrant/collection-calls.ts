// Handles the calls on collections, and on their payload indexes, vector names and aliases.
import { isDeepStrictEqual } from 'node:util';
import type { Schemas } from '@qdrant/js-client-rest';
import { BareJson, type Call, jsonBody, readParameter } from './call.ts';
import { toInfo, undoDeletions, updateCollection } from './collection.ts';
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

  function info(call: Call) {
    return toInfo(registry.get(readParameter(call, 'collection')));
  }

  function shards(call: Call): Schemas['CollectionClusterInfo'] {
    const points_count = registry.get(readParameter(call, 'collection')).points.size();
    return {
      peer_id: 1,
      shard_count: 1,
      remote_shards: [],
      shard_transfers: [],
      local_shards: [{ shard_id: 0, points_count, state: 'Active' }],
    };
  }

  function exists(call: Call): Schemas['CollectionExistence'] {
    return { exists: registry.has(readParameter(call, 'collection')) };
  }

  function create(call: Call): boolean {
    registry.create(readParameter(call, 'collection'), jsonBody<Schemas['CreateCollection']>(call));
    return true;
  }

  function update(call: Call): boolean {
    const collection = registry.get(readParameter(call, 'collection'));
    updateCollection(collection, jsonBody<Schemas['UpdateCollection']>(call));
    return true;
  }

  function remove(call: Call): boolean {
    return registry.remove(readParameter(call, 'collection'));
  }

  function createIndex(call: Call): Schemas['UpdateResult'] {
    const collection = registry.get(readParameter(call, 'collection'));
    const { field_name, field_schema } = jsonBody<Schemas['CreateFieldIndex']>(call);
    const schema = (field_schema ?? 'keyword') as Schemas['PayloadFieldSchema'];
    collection.indexes.set(field_name, schema);
    return numberWrite(call, collection);
  }

  function addVector(call: Call): Schemas['UpdateResult'] {
    const { collection, name, slots } = findSlots(call);
    const { sparse } = jsonBody<Schemas['SparseVectorNameConfig']>(call);
    if (slots[name] && !isDeepStrictEqual(slots[name], sparse)) {
      const reason = 'already exists with a different configuration';
      throw wrongInput(`Sparse vector \`${name}\` ${reason}`);
    }
    collection.params = { ...collection.params, sparse_vectors: { ...slots, [name]: sparse } };
    undoDeletions(collection);
    return numberWrite(call, collection);
  }

  function removeVector(call: Call): Schemas['UpdateResult'] {
    const { collection, name, slots } = findSlots(call);
    const { [name]: _, ...sparse_vectors } = slots;
    collection.params = { ...collection.params, sparse_vectors };
    undoDeletions(collection);
    for (const point of collection.points.all()) {
      if (point.sparse?.has(name)) collection.points.put(removeSlots(point, new Set([name])));
    }
    return numberWrite(call, collection);
  }

  function findSlots(call: Call) {
    if (!hasFeature(version, 'vectorSlots')) throw new Refusal(404, '', { plain: true });
    const collection = registry.get(readParameter(call, 'collection'));
    const slots = collection.params.sparse_vectors ?? {};
    return { collection, name: readParameter(call, 'vector'), slots };
  }

  function changeAliases(call: Call): boolean {
    registry.changeAliases(jsonBody<Schemas['ChangeAliasesOperation']>(call).actions);
    return true;
  }

  function listAliases(): Schemas['CollectionsAliasesResponse'] {
    return { aliases: registry.aliases() };
  }

  function listAliasesOfCollection(call: Call): Schemas['CollectionsAliasesResponse'] {
    const name = readParameter(call, 'collection');
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
