// The prerequisites of a migration, check by check: what was found, and what an operator has to repair.

import type { VectorStore } from '../adapters/qdrant.ts';
import type { GraphSource } from '../graph/graph-store.ts';
import { keywordTextOf } from '../json/memory-payload.ts';
import { PAGE_SIZE, troubleOf } from '../point-writer.ts';
import { KEYWORD_SLOT } from '../points.ts';
import { writeJson } from '../ports/artifacts.ts';
import type { CollectionInfo, ScrolledPoint } from '../ports/vector-store.ts';
import { Refusal, RetryableFailure } from '../refusals.ts';
import { translateFailure } from '../runs/failures.ts';
import type { Plan, Run } from '../runs/run.ts';
import type { Lease } from '../runs/run-lock.ts';
import { collectionsOf, drillCollectionOf, namesOf } from '../runs/run-names.ts';
import type { Scan } from '../scan.ts';
import type { Services } from '../services.ts';

interface Problem {
  readonly why: string;
  readonly remedy: string;
}

export interface Prerequisite {
  readonly name: string;
  /** What was found, in a few words. */
  readonly detail: string;
  readonly problems: readonly Problem[];
  /** The same as figures, for the report. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

const ENTITY_LOOKUP = 10_000;

export async function checkStore(vectors: VectorStore): Promise<Prerequisite> {
  const version = await vectors.version();
  const nodes = await vectors.nodeCount();
  const isReady = await vectors.isReady();
  return {
    name: 'Vector store',
    detail: `version ${version}, ${nodes} ${nodes === 1 ? 'node' : 'nodes'}`,
    problems: [
      ...problem(nodes > 1, `The store has ${nodes} nodes.`, REMEDY.nodes),
      ...problem(!isReady, 'The store is not ready.', REMEDY.health),
    ],
    facts: { version, nodes },
  };
}

/** @param premade collections that the new version has already made, which is no obstacle */
export async function checkNames(
  { vectors, setting }: Pick<Services, 'vectors' | 'setting'>,
  run: Run,
  premade: readonly string[],
): Promise<Prerequisite> {
  const { sourceCollection: source } = run.plan;
  const collections = await vectors.listCollections();
  const aliases = (await vectors.listAliases()).map(({ alias_name }) => alias_name);
  const active = await setting.read();
  const own = namesOf(run);
  const made = [...premade, ...madeBy(run)];
  const taken = own.filter(
    (name) => [...collections, ...aliases].includes(name) && !made.includes(name),
  );
  const leftovers = collections.filter(
    (name) => name.startsWith(`${source}_v3_`) && !own.includes(name),
  );
  const missing = aliases.includes(source)
    ? `${source} is an alias, not a collection.`
    : `There is no collection ${source}.`;
  return {
    name: 'Collection names',
    detail: `${source} is in use; the new collection is ${run.plan.targetCollection}`,
    problems: [
      ...problem(!collections.includes(source), missing, REMEDY.source),
      ...problem(active !== source, `The memory backend works on ${active}.`, REMEDY.source),
      ...taken.flatMap((name) => problem(true, `The name ${name} is taken.`, REMEDY.taken)),
      ...problem(
        leftovers.length > 0,
        `Earlier runs left ${leftovers.join(', ')}.`,
        REMEDY.leftovers,
      ),
    ],
  };
}

// Once a backup may have begun, its restore test may have left something of the run's own; after it, the rebuild.
function madeBy(run: Run): string[] {
  if (run.phase === 'started') return [];
  return run.phase === 'checked' ? [drillCollectionOf(run)] : collectionsOf(run);
}

export function checkCollection(info: CollectionInfo): Prerequisite {
  const { config } = info;
  const { size, distance } = denseVectorOf(info);
  const health = troubleOf(info);
  const slots = Object.keys(config.params.sparse_vectors ?? {});
  const others = slots.filter((slot) => slot !== KEYWORD_SLOT).join(', ');
  return {
    name: 'Vector layout',
    detail: size === undefined ? 'named vectors' : `${size} dimensions, ${distance} distance`,
    problems: [
      ...problem(size === undefined, 'The vectors have names.', REMEDY.layout),
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
    ],
    facts: { size, distance, hasKeywordSlot: slots.includes(KEYWORD_SLOT) },
  };
}

function strictModeProblems(strict: CollectionInfo['config']['strict_mode_config']): Problem[] {
  if (!strict?.enabled) return [];
  const { max_query_limit, search_allow_exact, upsert_max_batchsize } = strict;
  const isBelow = (limit: unknown, needed: number) => typeof limit === 'number' && limit < needed;
  const entities = `max_query_limit ${max_query_limit} is below the ${ENTITY_LOOKUP} that mem0 uses`;
  const batches = `upsert_max_batchsize ${upsert_max_batchsize} is below ${PAGE_SIZE}`;
  return [
    ...(isBelow(max_query_limit, ENTITY_LOOKUP) ? [entities] : []),
    ...(search_allow_exact === false ? ['exact counts are forbidden'] : []),
    ...(isBelow(upsert_max_batchsize, PAGE_SIZE) ? [batches] : []),
  ].map((why) => ({ why: `Strict mode: ${why}.`, remedy: REMEDY.strictMode }));
}

export function checkMemories({ contents, counts }: Scan, { accepts }: Plan): Prerequisite {
  const { points, users, expired, unreachable } = contents;
  const { absent, ...others } = unreachable;
  const counted = Object.entries({ 'no user id': absent, ...others }).filter(([, n]) => n > 0);
  const list = counted.map(([reason, points]) => `${points} for ${reason}`).join(', ');
  return {
    name: 'Memories',
    detail: `${points.toLocaleString('en')} of ${users.toLocaleString('en')} users`,
    problems: [
      ...problem(
        counted.length > 0 && !accepts.includes('unreachable-users'),
        `The new version would not find these memories: ${list}.`,
        REMEDY.unreachable,
      ),
      ...problem(
        expired > 0 && !accepts.includes('expired-memories'),
        `The new version would hide ${expired} memories with a past expiration_date.`,
        REMEDY.expired,
      ),
    ],
    facts: { points, users, expired, unreachable, largest: counts.largest(10) },
  };
}

/** The new collection, the snapshot's file, and what it is unpacked to. */
const COPIES = 3;
const FLOAT = 4;
/** An index and a weight for each word. */
const KEYWORD = 8;
const SAMPLE = 256;
const GIGABYTE = 1e9;

/** The space for the new collection and a snapshot of it, estimated from the first points: their ids are random. */
async function estimateSpace(vectors: VectorStore, plan: Plan): Promise<number> {
  const collection = plan.sourceCollection;
  // An upload under another name needs all of it a second time.
  const times = plan.uploadAs === undefined ? COPIES : 2 * COPIES;
  const total = await vectors.count(collection);
  const info = await vectors.collectionInfo(collection);
  const { size: dimensions = 0 } = denseVectorOf(info);
  const { points } = await vectors.scroll(collection, { limit: SAMPLE, vector: false });
  const share = total / Math.max(1, points.length);
  const payloads = share * sumOf(points, ({ payload }) => Buffer.byteLength(payload));
  const keywords = share * sumOf(points, wordsOf) * KEYWORD;
  return Math.ceil(times * (payloads + total * dimensions * FLOAT) + keywords);
}

/** @param freeBytes as the operator measured it; the store does not report it */
export async function checkSpace(
  vectors: VectorStore,
  plan: Plan,
  freeBytes = plan.freeBytes ?? null,
): Promise<Prerequisite> {
  const neededBytes = await estimateSpace(vectors, plan);
  const needed = `The migration needs about ${sizeText(neededBytes)} on the store`;
  const isUnknown = freeBytes === null && !plan.accepts.includes('unknown-space');
  const free = freeBytes === null ? 'free space unknown' : `${sizeText(freeBytes)} free`;
  return {
    name: 'Disk space',
    detail: `needs about ${sizeText(neededBytes)}, ${free}`,
    problems: [
      ...problem(isUnknown, `${needed}, and its free space is unknown.`, REMEDY.unknownSpace),
      ...problem(
        freeBytes !== null && freeBytes < neededBytes,
        `${needed}: ${free}.`,
        REMEDY.space,
      ),
    ],
    facts: { neededBytes, freeBytes },
  };
}

/** Whether everything that a dump reads can be read, with one row of each kind. */
export async function checkGraph(
  { graph }: Pick<Services, 'graph'>,
  { accepts }: Plan,
): Promise<Prerequisite> {
  return await attempt(
    'Graph store',
    'not readable',
    async () => {
      const isMissing = !graph && !accepts.includes('no-graph');
      const problems = problem(isMissing, 'There is no graph store to back up.', REMEDY.noGraph);
      if (!graph) return { detail: 'none', problems };
      const facts = await readGraph(graph);
      const { version, nodes, relationships } = facts;
      const detail = `version ${version}, ${nodes} nodes, ${relationships} relationships`;
      return { detail, problems, facts };
    },
    REMEDY.noGraph,
  );
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

/** Without it the backups could be deleted; found out in the window, it would cost the window. */
export async function checkRetention(
  { artifacts, clock }: Pick<Services, 'artifacts' | 'clock'>,
  { runId, epoch }: Lease,
): Promise<Prerequisite> {
  const key = `${runId}/retention-probe-${epoch}.json`;
  return await attempt('Retention of backups', 'cannot be set', async () => {
    await writeJson(artifacts, key, { runId });
    await artifacts.retain(key, new Date(clock().getTime() + RETENTION_PROBE_MS));
    return { detail: 'can be set', problems: [] };
  });
}

const RETENTION_PROBE_MS = 60_000;

/**
 * A refusal is a problem like others.
 * @param whenAway what to do about a service that does not answer: an operator is present, and it is not tried again
 * @throws anything else
 */
export async function attempt(
  name: string,
  detail: string,
  check: () => Promise<Omit<Prerequisite, 'name'>>,
  whenAway?: string,
): Promise<Prerequisite> {
  try {
    return { name, ...(await check()) };
  } catch (error) {
    return { name, detail, problems: [problemOf(translateFailure(error), whenAway)] };
  }
}

function problemOf(failure: unknown, whenAway?: string): Problem {
  if (failure instanceof Refusal) return { why: failure.why, remedy: failure.remedy };
  if (failure instanceof RetryableFailure && whenAway) {
    return { why: failure.message, remedy: whenAway };
  }
  throw failure;
}

/** The unnamed vector's; empty where vectors have names. */
export function denseVectorOf(info: CollectionInfo | undefined) {
  const { vectors = {} } = info?.config.params ?? {};
  const { size, distance } = vectors as { size?: unknown; distance?: unknown };
  return {
    size: typeof size === 'number' ? size : undefined,
    distance: typeof distance === 'string' ? distance : undefined,
  };
}

const REMEDY = {
  nodes: 'A snapshot holds one node only: move the store to a single node.',
  health: 'Wait for the store, or repair it, until it reports a healthy collection.',
  source: 'Give with --source the collection that the memory backend works on, by its own name.',
  taken: 'Choose another run id, or another --upload-as.',
  leftovers: 'Remove these collections, once you know that nobody needs them.',
  strictMode: 'Relax the strict mode of the collection for the time of the migration.',
  layout: 'Only collections with one unnamed vector and cosine distance can be migrated.',
  unreachable:
    'Give those memories user ids without white space, or accept it: --accept unreachable-users.',
  expired: 'Rename that key, or accept it: --accept expired-memories.',
  unknownSpace:
    'Measure the free space where the store keeps its data and give it with --free-gb, or accept it: --accept unknown-space.',
  space: 'Free or add space on the store, then give the free space with --free-gb.',
  noGraph: 'Name the graph store with NEO4J_URL, or go without its dump: --accept no-graph.',
} as const;

function problem(isFound: boolean, why: string, remedy: string): Problem[] {
  return isFound ? [{ why, remedy }] : [];
}

function wordsOf({ payload }: ScrolledPoint): number {
  const text = keywordTextOf(payload);
  return text === undefined ? 0 : (JSON.parse(text).match(/[\p{L}\p{N}]+/gu)?.length ?? 0);
}

function sumOf(points: readonly ScrolledPoint[], figure: (point: ScrolledPoint) => number): number {
  return points.reduce((sum, point) => sum + figure(point), 0);
}

function sizeText(bytes: number): string {
  const exact = `${bytes.toLocaleString('en')} bytes`;
  return bytes < GIGABYTE ? exact : `${(bytes / GIGABYTE).toFixed(2)} GB`;
}
