// Checks the vector store, and the names, layout and memories of the collection to migrate.
import { readFixedSettings } from '../configuration.ts';
import { SOURCE_SLOT } from '../keyword-fill.ts';
import { MAX_CONDITIONS, MAX_SEARCHED_IDS, PAGE_SIZE, whyUnhealthy } from '../point-writer.ts';
import { KEYWORD_SLOT } from '../points.ts';
import { type CollectionInfo, readDenseVector } from '../ports/vector-store.ts';
import { Refusal } from '../refusals.ts';
import type { Run } from '../runs/run.ts';
import { collectionNamesOf, collectionsOf, restoreTestCollectionOf } from '../runs/run-names.ts';
import type { UNREACHABLE } from '../scan.ts';
import { findUnreadableVectors } from '../unreadable-vectors.ts';
import { listPremade } from './new-version.ts';
import { type Acceptable, type CheckContext, defineCheck, type Rule } from './prerequisites.ts';
import { scanCollection } from './recorded-counts.ts';

const AWAIT_HEALTH = 'Wait for the store, or repair it, until it reports a healthy collection.';

export const VECTOR_STORE = defineCheck({
  name: 'Vector store',
  read: async ({ services: { vectors } }: CheckContext) => ({
    version: await vectors.fetchVersion(),
    nodes: await vectors.countNodes(),
    isReady: await vectors.isReady(),
  }),
  detail: ({ version, nodes }) => `version ${version}, ${nodes} ${nodes === 1 ? 'node' : 'nodes'}`,
  facts: ({ version, nodes }) => ({ version, nodes }),
  rules: [
    {
      why: ({ nodes }) => nodes > 1 && `The store has ${nodes} nodes.`,
      remedy:
        'A snapshot contains the shards of one node, so a backup would be incomplete. Copy the collection to a store of one node and point the backend there, as docs/migration/situations.md describes under "Several nodes"; then begin the run.',
    },
    { why: ({ isReady }) => !isReady && 'The store is not ready.', remedy: AWAIT_HEALTH },
  ],
});

const GIVE_OWN_NAME =
  'With --source, give the own name of the collection that the memory backend works on, not an alias.';

export const COLLECTION_NAMES = defineCheck({
  name: 'Collection names',
  needs: [VECTOR_STORE],
  read: findNames,
  detail: ({ active }, { plan }) =>
    `the active collection is ${active}, the new one ${plan.targetCollection}`,
  facts: ({ isThere }) => ({ isThere }),
  rules: [
    {
      why: ({ isThere, isAlias }, { plan: { sourceCollection: source } }) =>
        !isThere &&
        (isAlias
          ? `${source} is an alias, not a collection.`
          : `There is no collection ${source}.`),
      remedy: GIVE_OWN_NAME,
    },
    {
      why: ({ active }, { plan }) =>
        active !== plan.sourceCollection && `The memory backend works on ${active}.`,
      remedy: GIVE_OWN_NAME,
      stops: 'run',
    },
    {
      why: ({ taken }) => taken.map((name) => `The name ${name} is taken.`),
      remedy: 'Choose another run id, or another --upload-as.',
      stops: 'run',
    },
    {
      why: ({ leftovers }) => leftovers.length > 0 && `Earlier runs left ${leftovers.join(', ')}.`,
      remedy: 'Remove these collections, once you know that they are unused.',
      stops: 'run',
    },
    {
      // Programs that use an alias would keep using the old collection.
      why: ({ aliases }, { plan: { sourceCollection: source, inPlace, movesAliases } }) =>
        aliases.length > 0 &&
        !(inPlace || movesAliases) &&
        `Aliases name ${source}: ${aliases.join(', ')}. The switch does not move them.`,
      remedy:
        'Have the switch move them, and a rollback move them back: --moves-aliases; or move them yourself: --accept aliases.',
      accept: ['aliases'],
      stops: 'run',
    },
  ],
});

async function findNames({ services, run }: CheckContext) {
  const { vectors, setting } = services;
  const { sourceCollection: source } = run.plan;
  const collections = await vectors.listCollections();
  const listedAliases = await vectors.listAliases();
  const active = await setting.read();
  const ownNames = collectionNamesOf(run);
  // The names of these collections do not count as taken.
  const createdCollections = [...(await listPremade(services, run)), ...listCreatedByRun(run)];
  const usedNames = [...collections, ...listedAliases.map(({ alias_name }) => alias_name)];
  return {
    active,
    isThere: collections.includes(source),
    isAlias: listedAliases.some(({ alias_name }) => alias_name === source),
    taken: ownNames.filter(
      (name) => usedNames.includes(name) && !createdCollections.includes(name),
    ),
    // Otherwise a supposed leftover may be the active collection.
    leftovers: collections.filter(
      (name) => active === source && name.startsWith(`${source}_v3_`) && !ownNames.includes(name),
    ),
    aliases: listedAliases.flatMap(({ alias_name, collection_name }) =>
      collection_name === source ? [alias_name] : [],
    ),
  };
}

// Lists collections that the run may have created: before its first backup is done, only that of the restore test; later, any.
function listCreatedByRun(run: Run): string[] {
  if (!run.evidence['preflight-report']) return [];
  return run.phase === 'checked' ? [restoreTestCollectionOf(run)] : collectionsOf(run);
}

const SUPPORTED_LAYOUT =
  'Only collections with one unnamed vector and cosine distance can be migrated.';
/** Number of results that mem0 requests in one search for entities */
const MAX_FOUND_ENTITIES = 10_000;

export const VECTOR_LAYOUT = defineCheck({
  name: 'Vector layout',
  needs: [COLLECTION_NAMES],
  read: findLayout,
  detail: ({ size, distance }) =>
    size === undefined ? 'named vectors' : `${size} dimensions, ${distance} distance`,
  facts: ({ size, distance, slots }) => ({
    size,
    distance,
    hasKeywordSlot: slots.includes(KEYWORD_SLOT),
  }),
  rules: [
    {
      why: ({ size }) => size === undefined && 'The vectors have names.',
      remedy: SUPPORTED_LAYOUT,
    },
    {
      why: ({ multivector_config }) =>
        multivector_config != null && 'Points have several vectors each (multivectors).',
      remedy: SUPPORTED_LAYOUT,
    },
    {
      why: ({ size, distance }) =>
        size !== undefined && distance !== 'Cosine' && `The distance is ${distance}.`,
      remedy: SUPPORTED_LAYOUT,
    },
    {
      why: ({ slots }) => {
        const otherSlots = slots.filter((slot) => slot !== KEYWORD_SLOT && slot !== SOURCE_SLOT);
        const names = otherSlots.join(', ');
        return names && `There are sparse vectors other than ${KEYWORD_SLOT}: ${names}.`;
      },
      remedy: SUPPORTED_LAYOUT,
    },
    { why: ({ info }) => whyUnhealthy(info), remedy: AWAIT_HEALTH },
    ...createStrictModeRules([
      ['max_query_limit', MAX_FOUND_ENTITIES, `the ${MAX_FOUND_ENTITIES} that mem0 uses`],
      ['upsert_max_batchsize', PAGE_SIZE, `${PAGE_SIZE}`],
      ['condition_max_size', MAX_SEARCHED_IDS, `the ${MAX_SEARCHED_IDS} ids of one search`],
      ['filter_max_conditions', MAX_CONDITIONS, `${MAX_CONDITIONS}`],
    ]),
    {
      why: ({ hasOtherStorage, shard_number, datatype }) =>
        hasOtherStorage &&
        `The old collection has ${shard_number} shards and ${datatype} vectors; the new version creates its collection with 1 shard and float32.`,
      remedy:
        'Have the new version create its collection with the settings of the old one, unset MEMORY_PREVIEW_URL, or accept it: --accept other-storage.',
      accept: ['other-storage'],
    },
  ],
});

async function findLayout({ services: { vectors, preview }, run: { plan } }: CheckContext) {
  const { sourceCollection: source, inPlace } = plan;
  const info = await vectors.readCollectionInfo(source);
  if (!info) throw new Refusal('RefusedByService', `The collection ${source} was deleted.`);
  const { size, distance, multivector_config } = readDenseVector(info);
  const { shard_number, datatype } = readFixedSettings(info);
  return {
    ...{ info, size, distance, multivector_config, shard_number, datatype },
    slots: Object.keys(info.config.params.sparse_vectors ?? {}),
    // Without a preview, the run creates the new collection itself, with the settings of the old one.
    hasOtherStorage:
      preview !== undefined && !inPlace && (shard_number !== 1 || datatype !== 'float32'),
  };
}

type StrictMode = NonNullable<CollectionInfo['config']['strict_mode_config']>;

interface Layout {
  readonly info: CollectionInfo;
}

/** Creates a rule for each strict-mode limit that the migration's requests must not exceed. */
function createStrictModeRules(
  limits: readonly (readonly [keyof StrictMode, needed: number, neededText: string])[],
): Rule<Layout>[] {
  const remedy = 'Relax the strict mode of the collection during the migration.';
  const createRule = (why: (strict: StrictMode) => string | false): Rule<Layout> => ({
    why: ({ info: { config } }) => {
      const strict = config.strict_mode_config;
      const violation = strict?.enabled === true && why(strict);
      return violation && `Strict mode: ${violation}.`;
    },
    remedy,
  });
  return [
    ...limits.map(([name, needed, neededText]) =>
      createRule(({ [name]: limit }) => {
        const isBelow = typeof limit === 'number' && limit < needed;
        return isBelow && `${name} ${limit} is below ${neededText}`;
      }),
    ),
    createRule(
      ({ search_allow_exact }) => search_allow_exact === false && 'exact counts are forbidden',
    ),
  ];
}

export const MEMORIES = defineCheck({
  name: 'Memories',
  needs: [VECTOR_LAYOUT],
  read: findMemories,
  detail: ({ points, users }) =>
    `${points.toLocaleString('en')} of ${users.toLocaleString('en')} users`,
  facts: ({ points, users, expired, unreachable, unreadable, largest }) => ({
    ...{ points, users, expired, unreachable, unreadable: unreadable.count, largest },
  }),
  rules: [
    defineUnreachableRule('absent', {
      which: 'have no user, agent or session',
      remedy: 'Give those memories a user_id',
      finding: 'no-owner',
    }),
    defineUnreachableRule('not-a-text', {
      which: 'have an id that is not a string',
      remedy: 'Turn those ids into strings',
      finding: 'ids-not-text',
    }),
    defineUnreachableRule('white-space', {
      which: 'have an id with white space',
      remedy: 'Give those memories ids without white space',
      finding: 'ids-with-space',
    }),
    defineUnreachableRule('camel-case', {
      which: 'have their ids under userId, agentId or runId',
      remedy: 'Rename those keys to user_id, agent_id and run_id',
      finding: 'camel-case-ids',
    }),
    {
      why: ({ expired }) =>
        expired > 0 &&
        `The new version would hide ${expired} memories with a past expiration_date.`,
      remedy: 'Rename that key, or accept it: --accept expired-memories.',
      accept: ['expired-memories'],
    },
    {
      why: ({ unreadable: { count, examples } }) =>
        count > 0 &&
        `${count} points have a vector with NaN components: ${examples.join(', ')}${count > examples.length ? ', ...' : ''}. No search finds them, and the store accepts no copy of them.`,
      remedy:
        'Write these points again with vectors of their texts, delete them, or migrate in place: --in-place.',
    },
  ],
});

async function findMemories({ services, run }: CheckContext) {
  const { sourceCollection, inPlace } = run.plan;
  const { contents, counts } = await scanCollection(services, run, sourceCollection);
  const { points, users, expired, unreachable } = contents;
  // In place, no vector is copied, so unreadable ones do no harm.
  const unreadable = inPlace
    ? { count: 0, examples: [] }
    : await findUnreadableVectors({ store: services.vectors, collection: sourceCollection });
  return { points, users, expired, unreachable, unreadable, largest: counts.listLargest(10) };
}

type Unreachable = (typeof UNREACHABLE)[number];

/** Defines the rule for memories that the new version does not find by any of their ids. */
function defineUnreachableRule(
  reason: Unreachable,
  { which, remedy, finding }: { which: string; remedy: string; finding: Acceptable },
): Rule<{ readonly unreachable: Readonly<Record<Unreachable, number>> }> {
  return {
    why: ({ unreachable: { [reason]: count } }) =>
      count > 0 && `The new version would not find memories that ${which}: ${count}.`,
    remedy: `${remedy}, or accept it: --accept ${finding}.`,
    accept: ['unreachable-users', finding],
  };
}
