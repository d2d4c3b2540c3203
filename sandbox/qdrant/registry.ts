// All collections of the sandbox, and the aliases that point to them.

import type { Schemas } from '@qdrant/js-client-rest';
import { type Collection, copyCollection, createCollection } from './collection.ts';
import { invalid, noCollection, Refusal, wrongInput } from './refusal.ts';

export interface Registry extends ReturnType<typeof createRegistry> {}

const FORBIDDEN_IN_NAMES = '/\\:*?"<>|\0\u001f';

export function createRegistry(
  collections = new Map<string, Collection>(),
  aliases = new Map<string, string>(),
) {
  function create(name: string, settings: Schemas['CreateCollection']): Collection {
    checkName(name);
    if (aliases.has(name)) {
      throw wrongInput(
        `Can't create collection with name ${name}. Alias with the same name already exists`,
      );
    }
    if (collections.has(name)) {
      throw new Refusal(409, `Wrong input: Collection \`${name}\` already exists!`);
    }
    const collection = createCollection(settings);
    collections.set(name, collection);
    return collection;
  }

  function remove(name: string): boolean {
    for (const [alias, target] of aliases) if (target === name) aliases.delete(alias);
    return collections.delete(name);
  }

  /** Returns the name behind an alias, or the name itself if it is not an alias. */
  function resolveName(name: string): string {
    return aliases.get(name) ?? name;
  }

  function get(name: string): Collection {
    const collection = collections.get(resolveName(name));
    if (!collection) throw noCollection(name);
    return collection;
  }

  /** Applies the actions in order. If one fails, the actions before it remain in effect, as in Qdrant. */
  function changeAliases(actions: readonly Schemas['AliasOperations'][]): void {
    for (const action of actions) changeAlias(action);
  }

  function changeAlias(action: Schemas['AliasOperations']): void {
    if ('create_alias' in action) {
      const { collection_name, alias_name } = action.create_alias;
      if (!collections.has(collection_name)) throw noCollection(collection_name);
      if (collections.has(alias_name)) {
        throw wrongInput(`Collection \`${alias_name}\` already exists!`);
      }
      aliases.set(alias_name, collection_name);
    } else if ('delete_alias' in action) {
      aliases.delete(action.delete_alias.alias_name);
    } else {
      const { old_alias_name, new_alias_name } = action.rename_alias;
      const target = aliases.get(old_alias_name);
      if (!target) throw new Refusal(404, `Not found: Alias ${old_alias_name} does not exist!`);
      aliases.delete(old_alias_name);
      aliases.set(new_alias_name, target);
    }
  }

  /** Copies the registry; a later write to either one does not change the other. */
  function copy(): Registry {
    const copies = [...collections].map(
      ([name, collection]) => [name, copyCollection(collection)] as const,
    );
    return createRegistry(new Map(copies), new Map(aliases));
  }

  return {
    copy,
    create,
    remove,
    resolveName,
    get,
    changeAliases,
    names: () => [...collections.keys()],
    has: (name: string) => collections.has(resolveName(name)),
    aliases: () =>
      [...aliases].map(([alias_name, collection_name]) => ({ alias_name, collection_name })),
  };
}

function checkName(name: string): void {
  const bytes = Buffer.byteLength(name);
  if (
    bytes < 1 ||
    bytes > 255 ||
    [...name].some((character) => FORBIDDEN_IN_NAMES.includes(character))
  ) {
    throw invalid('name', `collection name "${name}" is not allowed`);
  }
}
