// The prerequisites of a migration, check by check: what was found, and what an operator has to repair.
import { randomInt } from 'node:crypto';
import type { VectorStore } from '../adapters/qdrant.ts';
import { fixedSettingsOf } from '../configuration.ts';
import type { GraphSource } from '../graph/graph-store.ts';
import { SOURCE_SLOT } from '../keyword-fill.ts';
import { MAX_CONDITIONS, MAX_SEARCHED_IDS, PAGE_SIZE, whyUnhealthy } from '../point-writer.ts';
import { KEYWORD_SLOT } from '../points.ts';
import { writeJson } from '../ports/artifacts.ts';
import { type CollectionInfo, denseVectorOf } from '../ports/vector-store.ts';
import { isRetryableFailure, Refusal } from '../refusals.ts';
import { translateFailure } from '../runs/failures.ts';
import type { ACCEPTABLE, Plan, Run } from '../runs/run.ts';
import { collectionsOf, namesOf, restoreTestCollectionOf, testUserOf } from '../runs/run-names.ts';
import { UNREACHABLE } from '../scan.ts';
import type { Services } from '../services.ts';
import { findUnreadableVectors } from '../unreadable-vectors.ts';
import { premadeOf } from './new-version.ts';
import { scanCollection } from './recorded-counts.ts';

export interface Problem {
  readonly why: string;
  readonly remedy: string;
}

export interface Prerequisite extends Finding {
  readonly name: string;
  /** Another problem stands before it. */
  readonly isUnchecked?: true;
}

export interface Finding {
  /** Finding in a few words */
  readonly detail: string;
  readonly problems: readonly Problem[];
  /** The same as figures, for the report. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** A service that refuses or does not answer is a problem like others: an operator is present, and it is not tried again. */
export async function check(
  name: string,
  find: () => Promise<Finding>,
  { isPossible = true, whenAway = REMEDY.away }: CheckOptions = {},
): Promise<Prerequisite> {
  if (!isPossible) return { name, detail: 'not checked yet', problems: [], isUnchecked: true };
  try {
    return { name, ...(await find()) };
  } catch (error) {
    return { name, detail: 'cannot be used', problems: [problemOf(error, whenAway)] };
  }
}

interface CheckOptions {
  /** False while something else has to be repaired first. */
  readonly isPossible?: boolean;
  /** Advice for a service that does not answer */
  readonly whenAway?: string;
}

/** @throws what is neither */
function problemOf(error: unknown, whenAway: string): Problem {
  const failure = translateFailure(error);
  if (failure instanceof Refusal) return { why: failure.why, remedy: failure.remedy };
  if (isRetryableFailure(failure)) return { why: failure.message, remedy: whenAway };
  throw failure;
}

export function isMet({ problems, isUnchecked }: Prerequisite): boolean {
  return problems.length === 0 && !isUnchecked;
}

const ENTITY_LOOKUP = 10_000;

export async function checkStore(vectors: VectorStore): Promise<Finding> {
  const version = await vectors.version();
  const nodes = await vectors.nodeCount();
  const isReady = await vectors.isReady();
  return {
    detail: `version ${version}, ${nodes} ${nodes === 1 ? 'node' : 'nodes'}`,
    problems: [
      ...problem(nodes > 1, `The store has ${nodes} nodes.`, REMEDY.nodes),
      ...problem(!isReady, 'The store is not ready.', REMEDY.health),
    ],
    facts: { version, nodes },
  };
}

export async function checkNames(services: Services, run: Run): Promise<Finding> {
  const { vectors, setting } = services;
  const { sourceCollection: source } = run.plan;
  const collections = await vectors.listCollections();
  const listed = await vectors.listAliases();
  const aliases = listed.map(({ alias_name }) => alias_name);
  const active = await setting.read();
  const own = namesOf(run);
  // Collections that the new version has created already are no obstacle.
  const made = [...(await premadeOf(services, run)), ...madeBy(run)];
  const taken = own.filter(
    (name) => [...collections, ...aliases].includes(name) && !made.includes(name),
  );
  // Beside another source, what looks like a leftover may be the collection in use.
  const leftovers = collections.filter(
    (name) => active === source && name.startsWith(`${source}_v3_`) && !own.includes(name),
  );
  const isThere = collections.includes(source);
  const missing = aliases.includes(source)
    ? `${source} is an alias, not a collection.`
    : `There is no collection ${source}.`;
  return {
    detail: `${active} is in use; the new collection is ${run.plan.targetCollection}`,
    problems: [
      ...problem(!isThere, missing, REMEDY.source),
      ...problem(active !== source, `The memory backend works on ${active}.`, REMEDY.source),
      ...taken.flatMap((name) => problem(true, `The name ${name} is taken.`, REMEDY.taken)),
      ...problem(
        leftovers.length > 0,
        `Earlier runs left ${leftovers.join(', ')}.`,
        REMEDY.leftovers,
      ),
      ...(isThere ? aliasProblems(listed, run.plan) : []),
    ],
    facts: { isThere },
  };
}

/** Programs that use an alias would stay on the old collection. */
function aliasProblems(
  listed: Awaited<ReturnType<VectorStore['listAliases']>>,
  { sourceCollection, inPlace, movesAliases, accepts }: Plan,
): Problem[] {
  const names = listed.flatMap(({ alias_name, collection_name }) =>
    collection_name === sourceCollection ? [alias_name] : [],
  );
  const isLeft = !inPlace && !movesAliases && !accepts.includes('aliases');
  const why = `Aliases name ${sourceCollection}: ${names.join(', ')}. The switch does not move them.`;
  return problem(names.length > 0 && isLeft, why, REMEDY.aliases);
}

// Once a backup may have begun, its restore test may have left something of the run's own; after it, the rebuild.
function madeBy(run: Run): string[] {
  if (!run.evidence['preflight-report']) return [];
  return run.phase === 'checked' ? [restoreTestCollectionOf(run)] : collectionsOf(run);
}

export async function checkLayout(
  { vectors, preview }: Pick<Services, 'vectors' | 'preview'>,
  { sourceCollection: source, accepts, inPlace }: Plan,
): Promise<Finding> {
  const info = await vectors.collectionInfo(source);
  if (!info) throw new Refusal('RefusedByService', `The collection ${source} is gone.`);
  const { config } = info;
  const { size, distance, multivector_config } = denseVectorOf(info);
  const health = whyUnhealthy(info);
  const slots = Object.keys(config.params.sparse_vectors ?? {});
  const others = slots.filter((slot) => slot !== KEYWORD_SLOT && slot !== SOURCE_SLOT).join(', ');
  return {
    detail: size === undefined ? 'named vectors' : `${size} dimensions, ${distance} distance`,
    problems: [
      ...problem(size === undefined, 'The vectors have names.', REMEDY.layout),
      ...problem(
        Boolean(multivector_config),
        'Points have several vectors each (multivectors).',
        REMEDY.layout,
      ),
      ...problem(
        size !== undefined && distance !== 'Cosine',
        `The distance is ${distance}.`,
        REMEDY.layout,
      ),
      ...problem(
        others !== '',
        `There are other sparse vectors than ${KEYWORD_SLOT}: ${others}.`,
        REMEDY.layout,
      ),
      ...problem(health !== undefined, health ?? '', REMEDY.health),
      ...strictModeProblems(config.strict_mode_config),
      // Without a preview, the run makes the new collection itself.
      ...(preview && !inPlace && !accepts.includes('other-storage') ? storageProblems(info) : []),
    ],
    facts: { size, distance, hasKeywordSlot: slots.includes(KEYWORD_SLOT) },
  };
}

function storageProblems(info: CollectionInfo): Problem[] {
  const { shard_number, datatype } = fixedSettingsOf(info);
  const isOther = shard_number !== 1 || datatype !== 'float32';
  const why = `The old collection has ${shard_number} shards and ${datatype} vectors; the new version makes its own with 1 shard and float32.`;
  return problem(isOther, why, REMEDY.storage);
}

function strictModeProblems(strict: CollectionInfo['config']['strict_mode_config']): Problem[] {
  if (!strict?.enabled) return [];
  const { max_query_limit, search_allow_exact, upsert_max_batchsize } = strict;
  const { condition_max_size, filter_max_conditions } = strict;
  const isBelow = (limit: unknown, needed: number) => typeof limit === 'number' && limit < needed;
  const entities = `max_query_limit ${max_query_limit} is below the ${ENTITY_LOOKUP} that mem0 uses`;
  const batches = `upsert_max_batchsize ${upsert_max_batchsize} is below ${PAGE_SIZE}`;
  const ids = `condition_max_size ${condition_max_size} is below the ${MAX_SEARCHED_IDS} ids of one search`;
  const filters = `filter_max_conditions ${filter_max_conditions} is below ${MAX_CONDITIONS}`;
  return [
    ...(isBelow(max_query_limit, ENTITY_LOOKUP) ? [entities] : []),
    ...(search_allow_exact === false ? ['exact counts are forbidden'] : []),
    ...(isBelow(upsert_max_batchsize, PAGE_SIZE) ? [batches] : []),
    ...(isBelow(condition_max_size, MAX_SEARCHED_IDS) ? [ids] : []),
    ...(isBelow(filter_max_conditions, MAX_CONDITIONS) ? [filters] : []),
  ].map((why) => ({ why: `Strict mode: ${why}.`, remedy: REMEDY.strictMode }));
}

export async function checkMemories(services: Services, run: Run): Promise<Finding> {
  const { sourceCollection, accepts, inPlace } = run.plan;
  const { contents, counts } = await scanCollection(services, run, sourceCollection);
  const { points, users, expired, unreachable } = contents;
  // In place, no vector is copied.
  const { count: unreadable, examples } = inPlace
    ? { count: 0, examples: [] }
    : await findUnreadableVectors({ store: services.vectors, collection: sourceCollection });
  return {
    detail: `${points.toLocaleString('en')} of ${users.toLocaleString('en')} users`,
    problems: [
      ...UNREACHABLE.flatMap((reason) => {
        const { accepted, why, remedy } = UNFOUND[reason];
        const isTaken = accepts.includes('unreachable-users') || accepts.includes(accepted);
        const message = `${unreachable[reason]} ${why}: the new version would not find them.`;
        const orAccept = `${remedy}, or accept it: --accept ${accepted}.`;
        return problem(unreachable[reason] > 0 && !isTaken, message, orAccept);
      }),
      ...problem(
        expired > 0 && !accepts.includes('expired-memories'),
        `The new version would hide ${expired} memories with a past expiration_date.`,
        REMEDY.expired,
      ),
      ...problem(
        unreadable > 0,
        `${unreadable} points have a vector with components that are no numbers (NaN): ${examples.join(', ')}${unreadable > examples.length ? ', ...' : ''}. No search finds them, and the store takes no copy of them.`,
        REMEDY.unreadable,
      ),
    ],
    facts: { points, users, expired, unreachable, unreadable, largest: counts.largest(10) },
  };
}

/** Memories that none of their ids leads to. */
const UNFOUND: Readonly<
  Record<(typeof UNREACHABLE)[number], Readonly<Record<'why' | 'remedy', string>> & Accepted>
> = {
  absent: {
    accepted: 'no-owner',
    why: 'has no user, agent or session',
    remedy: 'Give those memories a user_id',
  },
  'camel-case': {
    accepted: 'camel-case-ids',
    why: 'has its ids under userId, agentId or runId',
    remedy: 'Rename those keys to user_id, agent_id and run_id',
  },
  'not-a-text': {
    accepted: 'ids-not-text',
    why: 'has an id that is no text',
    remedy: 'Make those ids texts',
  },
  'white-space': {
    accepted: 'ids-with-space',
    why: 'has an id with white space',
    remedy: 'Give those memories ids without white space',
  },
};

interface Accepted {
  readonly accepted: (typeof ACCEPTABLE)[number];
}

/** Reads one row of each kind that a dump reads. */
export async function checkGraph(
  { graph }: Pick<Services, 'graph'>,
  { accepts }: Plan,
): Promise<Finding> {
  const isMissing = !graph && !accepts.includes('no-graph');
  const problems = problem(isMissing, 'There is no graph store to back up.', REMEDY.noGraph);
  if (!graph) return { detail: 'none', problems };
  const facts = await readGraph(graph);
  const { version, nodes, relationships } = facts;
  const detail = `version ${version}, ${nodes} nodes, ${relationships} relationships`;
  const isEmpty = nodes === 0 && !accepts.includes('empty-graph');
  return { detail, problems: problem(isEmpty, 'The graph is empty.', REMEDY.emptyGraph), facts };
}

async function readGraph(graph: GraphSource) {
  const server = await graph.server();
  const size = await graph.size();
  await graph.position();
  const { length: rules } = await graph.schema();
  for (const rows of [graph.nodes(), graph.relationships()]) await readOne(rows);
  return { ...server, ...size, rules };
}

async function readOne(rows: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of rows) return;
}

/**
 * Checks that artifacts can be kept from deletion: a failure in the window would cost the window.
 * @param mayWrite in a dry run they are only looked for
 */
export async function checkArtifacts(
  { artifacts, clock }: Pick<Services, 'artifacts' | 'clock'>,
  { runId }: Pick<Run, 'runId'>,
  mayWrite: boolean,
): Promise<Finding> {
  const key = `${runId}/retention-probe-${randomInt(2 ** 47)}.json`;
  if (!mayWrite) {
    await artifacts.head(key);
    return { detail: 'can be reached', problems: [] };
  }
  await writeJson(artifacts, key, { runId });
  await artifacts.retain(key, new Date(clock().getTime() + RETENTION_PROBE_MS));
  return { detail: 'can be written, and kept from deletion', problems: [] };
}

const RETENTION_PROBE_MS = 60_000;

/** Checks that the webhook answers and accepts the token. */
export async function checkWebhook({ hooks, clock }: Services, run: Run): Promise<Finding> {
  const answer = await hooks.ask({
    action: 'check',
    runId: run.runId,
    occasion: `preflight-${clock().getTime()}`,
    collection: run.plan.sourceCollection,
    testUser: testUserOf(run.runId),
    deadlineAt: undefined,
  });
  if (answer === 'asked-of-a-person') return { detail: 'none: a person does it', problems: [] };
  const isHeard = answer === 'done';
  const problems = problem(!isHeard, 'It answered 202 to "check".', REMEDY.webhook);
  return { detail: isHeard ? 'answers' : 'answers otherwise', problems };
}

/** @param mayWrite in a dry run it is only read */
export async function checkSetting(
  { setting }: Pick<Services, 'setting'>,
  mayWrite: boolean,
): Promise<Finding> {
  if (mayWrite) await setting.tryWrite();
  else await setting.read();
  return { detail: mayWrite ? 'can be written' : 'can be read', problems: [] };
}

export const REMEDY = {
  webhook: 'Have it answer {"action": "check"} with 200 or 204, and do nothing.',
  keywords:
    'Use Qdrant 1.15.3 or later, or go without keyword vectors of old memories: --accept empty-keywords.',
  notInPlace: 'Begin without --in-place: the way over a new collection needs none of this.',
  nodes:
    'A snapshot holds the shards of one node, so a backup would not be whole. Copy the collection to a store of one node and point the backend there, as docs/migration/situations.md describes under "Several nodes"; then begin.',
  health: 'Wait for the store, or repair it, until it reports a healthy collection.',
  source: 'Give with --source the collection that the memory backend works on, by its own name.',
  taken: 'Choose another run id, or another --upload-as.',
  leftovers: 'Remove these collections, once you know that they are unused.',
  aliases:
    'Have them moved with the switch, and back with a rollback: --moves-aliases; or do it yourself: --accept aliases.',
  strictMode: 'Relax the strict mode of the collection for the time of the migration.',
  layout: 'Only collections with one unnamed vector and cosine distance can be migrated.',
  storage:
    'Have the new version make its collection so, leave MEMORY_PREVIEW_URL out, or accept it: --accept other-storage.',
  expired: 'Rename that key, or accept it: --accept expired-memories.',
  unreadable:
    'Give these points the vectors of their texts, delete them, or migrate in place: --in-place.',
  unknownSpace:
    'Measure the free space where the store keeps its data and give it with --free-gb, or accept it: --accept unknown-space.',
  space: 'Free or add space on the store, then give the free space with --free-gb.',
  away: 'Start it, or correct its address.',
  deployed:
    'Deploy the version that the run began with; or end the run with "abort", and begin another one.',
  noGraph: 'Name the graph store with NEO4J_URL, or go without its dump: --accept no-graph.',
  emptyGraph:
    'Name the database with NEO4J_DATABASE if it is another one, or go on without memories in the graph: --accept empty-graph.',
  graphAway:
    'Start it, or correct NEO4J_URL; to go without its dump, unset NEO4J_URL and give --accept no-graph.',
} as const;

export function problem(isFound: boolean, why: string, remedy: string): Problem[] {
  return isFound ? [{ why, remedy }] : [];
}
