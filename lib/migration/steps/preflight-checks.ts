// What may stand in the way of a migration, check by check. Each finding is a refusal that was not thrown yet.

import { PAGE_SIZE, troubleOf } from '../point-writer.ts';
import { KEYWORD_SLOT } from '../points.ts';
import type { CollectionInfo, VectorStore } from '../ports/vector-store.ts';
import { Refusal, type RefusalName } from '../refusals.ts';
import type { Plan, Run } from '../runs/run.ts';
import { drillCollectionOf, namesOf } from '../runs/run-names.ts';
import type { Contents } from '../scan.ts';
import type { Services } from '../services.ts';

export interface Finding {
  readonly name: RefusalName;
  readonly why: string;
}

const ENTITY_LOOKUP = 10_000;

export async function checkNames(
  { vectors, setting }: Pick<Services, 'vectors' | 'setting'>,
  run: Run,
  premade: readonly string[] = [],
): Promise<Finding[]> {
  const { sourceCollection } = run.plan;
  const collections = await vectors.listCollections();
  const aliases = (await vectors.listAliases()).map(({ alias_name }) => alias_name);
  const active = await setting.read();
  const taken = [...collections, ...aliases];
  const ours = namesToBeFree(run);
  const strangers = collections.filter(
    (name) => name.startsWith(`${sourceCollection}_v3_`) && !ours.includes(name),
  );
  return [
    ...found(!collections.includes(sourceCollection), 'RefusedSource', () =>
      aliases.includes(sourceCollection)
        ? `${sourceCollection} is an alias, not a collection.`
        : `There is no collection ${sourceCollection}.`,
    ),
    ...found(
      active !== sourceCollection,
      'RefusedSource',
      () => `The memory backend works on ${active}, not on ${sourceCollection}.`,
    ),
    ...ours
      .filter((name) => taken.includes(name) && !premade.includes(name))
      .map((name) => finding('RefusedTarget', `The name ${name} is taken.`)),
    ...found(
      strangers.length > 0,
      'RefusedLeftovers',
      () => `Earlier runs left ${strangers.join(', ')}.`,
    ),
  ];
}

// Once a backup may have begun, its drill may have left something of the run's own.
function namesToBeFree(run: Run): string[] {
  const names = namesOf(run);
  return run.phase === 'started' ? names : names.filter((name) => name !== drillCollectionOf(run));
}

export async function checkNodes(vectors: VectorStore): Promise<Finding[]> {
  const nodes = await vectors.nodeCount();
  return [
    ...found(nodes > 1, 'RefusedSeveralNodes', () => `The store has ${nodes} nodes.`),
    ...found(!(await vectors.isReady()), 'RefusedUnhealthyStore', () => 'The store is not ready.'),
  ];
}

export function checkLayout(info: CollectionInfo): Finding[] {
  const { config } = info;
  const { size, distance } = denseVectorOf(config.params.vectors);
  const slots = Object.keys(config.params.sparse_vectors ?? {});
  const otherSlots = slots.filter((name) => name !== KEYWORD_SLOT);
  return [
    ...found(size === undefined, 'RefusedVectorLayout', () => 'The vectors have names.'),
    ...found(
      size !== undefined && distance !== 'Cosine',
      'RefusedVectorLayout',
      () => `The distance is ${distance}.`,
    ),
    ...found(
      otherSlots.length > 0,
      'RefusedVectorLayout',
      () => `There are other sparse vectors than ${KEYWORD_SLOT}: ${otherSlots.join(', ')}.`,
    ),
    ...checkHealth(info),
    ...checkStrictMode(config.strict_mode_config),
  ];
}

function checkHealth(info: CollectionInfo): Finding[] {
  const trouble = troubleOf(info);
  return trouble === undefined ? [] : [finding('RefusedUnhealthyStore', trouble)];
}

function checkStrictMode(strict: CollectionInfo['config']['strict_mode_config']): Finding[] {
  if (!strict?.enabled) return [];
  const { max_query_limit, search_allow_exact, upsert_max_batchsize } = strict;
  const obstacles = [
    ...(isBelow(max_query_limit, ENTITY_LOOKUP)
      ? [`max_query_limit ${max_query_limit} is below the ${ENTITY_LOOKUP} that mem0 asks for`]
      : []),
    ...(search_allow_exact === false ? ['exact counts are forbidden'] : []),
    ...(isBelow(upsert_max_batchsize, PAGE_SIZE)
      ? [`upsert_max_batchsize ${upsert_max_batchsize} is below ${PAGE_SIZE}`]
      : []),
  ];
  return obstacles.map((obstacle) => finding('RefusedStrictMode', `In strict mode, ${obstacle}.`));
}

export function checkUsers(contents: Contents, { accepts }: Plan): Finding[] {
  const { absent, ...others } = contents.unreachable;
  const counted = Object.entries({ 'no user id': absent, ...others }).filter(([, n]) => n > 0);
  const list = counted.map(([reason, points]) => `${points} for ${reason}`).join(', ');
  return [
    ...found(
      counted.length > 0 && !accepts.includes('unreachable-users'),
      'RefusedUnreachableUsers',
      () => `The new version would not find these memories: ${list}.`,
    ),
    ...found(
      contents.expired > 0 && !accepts.includes('expired-memories'),
      'RefusedExpiredMemories',
      () => `The new version would hide ${contents.expired} memories with a past expiration_date.`,
    ),
  ];
}

/** The unnamed vector's; empty where vectors have names. */
export function denseVectorOf(vectors: CollectionInfo['config']['params']['vectors']): {
  readonly size: number | undefined;
  readonly distance: string | undefined;
} {
  const { size, distance } = (vectors ?? {}) as { size?: unknown; distance?: unknown };
  return {
    size: typeof size === 'number' ? size : undefined,
    distance: typeof distance === 'string' ? distance : undefined,
  };
}

function isBelow(limit: unknown, needed: number): boolean {
  return typeof limit === 'number' && limit < needed;
}

function found(isFound: boolean, name: RefusalName, why: () => string): Finding[] {
  return isFound ? [finding(name, why())] : [];
}

/** What was refused is in the way, beside whatever else is. @throws anything else */
export function findingOf(error: unknown): Finding {
  if (error instanceof Refusal) return finding(error.name, error.why);
  throw error;
}

function finding(name: RefusalName, why: string): Finding {
  return { name, why };
}
