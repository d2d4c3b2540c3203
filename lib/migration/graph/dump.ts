// Dumps a whole graph into artifacts: streamed, counted, and refused when anybody wrote to it meanwhile. The manifest is
// written last: without it, what is there is no dump. Read back, a dump is proved to be what was dumped by the digests of
// its files, and to be what a graph can hold by decoding every value.
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { createDigestSum, userHash } from '../points.ts';
import { type ArtifactStore, measureOf, readJson, writeJson } from '../ports/artifacts.ts';
import { isRefusal, isRetryableFailure, Refusal } from '../refusals.ts';
import { translateFailure } from '../runs/failures.ts';
import { createFingerprint, type FingerprintBuilder, fingerprintOf } from './fingerprint.ts';
import {
  type GraphNode,
  type GraphRelationship,
  type GraphSource,
  RESTORE_ID,
  RESTORE_LABEL,
  type SchemaRule,
} from './graph-store.ts';
import { readLines, writeLines } from './json-lines.ts';
import { decodeProperties, type Properties } from './values.ts';

interface DumpOptions {
  readonly source: GraphSource;
  readonly artifacts: ArtifactStore;
  /** Of the keys of the dump. */
  readonly prefix: string;
  readonly runId: string;
  readonly now: () => Date;
}

/**
 * A dump that was killed starts again: an incomplete one has no manifest.
 * @throws Refusal when somebody writes to the graph meanwhile, when it holds what a dump cannot, or when a finished
 *   dump is there that must be kept
 */
export async function dumpGraph(options: DumpOptions): Promise<GraphManifest> {
  const { source, artifacts, prefix, runId, now } = options;
  // First of all: an older manifest must never stand beside newer files.
  await artifacts.delete(dumpKeys(prefix).manifest);
  const startedAt = now().toISOString();
  const before = await stateOf(source);
  using fingerprint = createFingerprint();
  const files = await writeFiles(options, fingerprint);
  const after = await stateOf(source);
  const contents = fingerprint.result();
  assertStill(before, after, contents);
  const manifest = v.parse(manifestSchema, {
    format: DUMP_FORMAT,
    runId,
    server: await source.server(),
    startedAt,
    finishedAt: now().toISOString(),
    before,
    after,
    contents,
    files,
  });
  await writeJson(artifacts, dumpKeys(prefix).manifest, manifest);
  return manifest;
}

async function writeFiles(
  { source, artifacts, prefix }: DumpOptions,
  fingerprint: FingerprintBuilder,
): Promise<GraphManifest['files']> {
  const keys = dumpKeys(prefix);
  const schema = await writeJson(artifacts, keys.schema, await source.schema());
  const nodes = await writeLines(artifacts, keys.nodes, counted(source.nodes(), countNode));
  const relationships = await writeLines(
    artifacts,
    keys.relationships,
    counted(source.relationships(), countRelationship),
  );
  return { nodes, relationships, schema };

  function countNode(node: GraphNode): void {
    if (node.labels.includes(RESTORE_LABEL)) refuseName(`the label ${RESTORE_LABEL}`);
    assertNoRestoreId(node);
    fingerprint.addNode(node);
  }

  function countRelationship(relationship: GraphRelationship): void {
    assertNoRestoreId(relationship);
    try {
      fingerprint.addRelationship(relationship);
    } catch (cause) {
      // No graph has a relationship without its nodes: one of them was made or missed meanwhile.
      throw changed('A relationship was read whose node was not', { cause });
    }
  }
}

async function* counted<Row>(
  rows: AsyncIterable<Row>,
  count: (row: Row) => void,
): AsyncIterable<Row> {
  for await (const row of rows) {
    count(row);
    yield row;
  }
}

async function stateOf(source: GraphSource): Promise<GraphManifest['before']> {
  return { size: await source.size(), position: await source.position() };
}

function assertStill(
  { size, position }: GraphManifest['before'],
  after: GraphManifest['after'],
  contents: GraphManifest['contents'],
): void {
  for (const kind of ['nodes', 'relationships'] as const) {
    const seen = [size[kind], contents[kind], after.size[kind]];
    if (new Set(seen).size === 1) continue;
    throw changed(`There were ${seen.join(', then ')} ${kind} before, in and after the dump`);
  }
  if (position !== after.position) {
    throw changed('Transactions were committed to the graph during the dump');
  }
}

function assertNoRestoreId({ properties }: GraphNode | GraphRelationship): void {
  if (Object.hasOwn(properties, RESTORE_ID)) refuseName(`the property ${RESTORE_ID}`);
}

function refuseName(what: string): never {
  const why = `The graph uses ${what}, which marks a restore that was never finished.`;
  throw new Refusal('RefusedByService', why);
}

// What was read is no dump: stop the writers, then dump again.
function changed(why: string, options?: ErrorOptions): Refusal {
  return new Refusal('RefusedNotFrozen', `${why}.`, options);
}

const DUMP_FORMAT = 'graph-dump/4';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const file = v.object({ key: v.string(), bytes: count, sha256 });
const size = v.object({ nodes: count, relationships: count });

const figures = {
  nodes: count,
  relationships: count,
  nodesDigest: sha256,
  relationshipsDigest: sha256,
  counts: v.record(v.string(), count),
};

const manifestEntries = {
  runId: v.string(),
  server: v.object({ version: v.string(), edition: v.string(), database: v.string() }),
  startedAt: v.pipe(v.string(), v.isoTimestamp()),
  finishedAt: v.pipe(v.string(), v.isoTimestamp()),
  /** Equal before and after: nothing was written meanwhile. */
  before: v.object({ size, position: v.string() }),
  after: v.object({ size, position: v.string() }),
  files: v.object({ nodes: file, relationships: file, schema: file }),
};

const manifestSchema = v.variant('format', [
  v.object({
    format: v.literal(DUMP_FORMAT),
    ...manifestEntries,
    contents: v.object({ ...figures, users: count, usersDigest: sha256 }),
  }),
  v.object({
    format: v.literal('graph-dump/3'),
    ...manifestEntries,
    contents: v.pipe(v.object(figures), v.transform(withUsers)),
  }),
]);

/** Dumps of before listed the nodes of each user by name. */
function withUsers<Contents extends { readonly counts: Readonly<Record<string, number>> }>(
  contents: Contents,
) {
  const listed = 'nodesPerUser ';
  const digest = createDigestSum();
  const counts: Record<string, number> = {};
  let users = 0;
  for (const [name, nodes] of Object.entries(contents.counts)) {
    if (!name.startsWith(listed)) {
      counts[name] = nodes;
      continue;
    }
    users += 1;
    const user = userHash(name.slice(listed.length));
    for (let n = 0; n < nodes; n += 1) digest.add(user);
  }
  return { ...contents, counts, users, usersDigest: digest.text() };
}

export type GraphManifest = v.InferOutput<typeof manifestSchema>;

export function dumpKeys(prefix: string) {
  return {
    nodes: `${prefix}/nodes.jsonl.gz`,
    relationships: `${prefix}/rels.jsonl.gz`,
    schema: `${prefix}/schema.json`,
    manifest: `${prefix}/manifest.json`,
  };
}

/** @throws Refusal where no dump was finished */
export async function readManifest(
  artifacts: ArtifactStore,
  prefix: string,
): Promise<GraphManifest> {
  return v.parse(manifestSchema, await readJson(artifacts, dumpKeys(prefix).manifest));
}

const schemaFile = v.array(v.object({ name: v.string(), type: v.string(), statement: v.string() }));

export function readNodes(artifacts: ArtifactStore, prefix: string) {
  return readLines<GraphNode>(artifacts, dumpKeys(prefix).nodes);
}

export function readRelationships(artifacts: ArtifactStore, prefix: string) {
  return readLines<GraphRelationship>(artifacts, dumpKeys(prefix).relationships);
}

export async function readSchema(
  artifacts: ArtifactStore,
  prefix: string,
): Promise<readonly SchemaRule[]> {
  return v.parse(schemaFile, await readJson(artifacts, dumpKeys(prefix).schema));
}

/**
 * Reads the whole dump and compares it with its manifest: the digest and length of each file, every value, both ends of
 * every relationship, and what the graph held.
 * @throws Refusal when the dump is damaged, or none was finished; a failure that passes by itself as it is
 */
export async function verifyDump(artifacts: ArtifactStore, prefix: string): Promise<GraphManifest> {
  const manifest = await readManifest(artifacts, prefix);
  const { files, contents } = manifest;
  try {
    const found = await readEverything(artifacts, prefix);
    for (const [part, wanted] of Object.entries({ ...files, contents })) {
      if (isDeepStrictEqual(wanted, found[part as keyof typeof found])) continue;
      const why = `The ${part} of the dump are not as the manifest says.`;
      throw new Refusal('RefusedSnapshot', why);
    }
  } catch (cause) {
    // A store that cannot be reached says nothing of what is kept.
    if (isRetryableFailure(translateFailure(cause)) || isRefusal(cause, 'RefusedSnapshot')) {
      throw cause;
    }
    const why = `The dump ${prefix} cannot be read to its end.`;
    throw new Refusal('RefusedSnapshot', why, { cause });
  }
  return manifest;
}

async function readEverything(artifacts: ArtifactStore, prefix: string) {
  const keys = dumpKeys(prefix);
  const nodes = readNodes(artifacts, prefix);
  const relationships = readRelationships(artifacts, prefix);
  const contents = await fingerprintOf({
    nodes: () => decodable(nodes.values),
    relationships: () => decodable(relationships.values),
  });
  await readSchema(artifacts, prefix);
  return {
    nodes: { key: keys.nodes, ...nodes.measure() },
    relationships: { key: keys.relationships, ...relationships.measure() },
    schema: { key: keys.schema, ...(await measureOf(artifacts.get(keys.schema))) },
    contents,
  };
}

async function* decodable<Row extends { readonly properties: Properties }>(
  rows: AsyncIterable<Row>,
): AsyncIterable<Row> {
  for await (const row of rows) {
    decodeProperties(row.properties);
    yield row;
  }
}
