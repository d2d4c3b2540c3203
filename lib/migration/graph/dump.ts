// Dumps a whole graph into artifacts: streamed, counted, and refused if the graph changed meanwhile. The manifest is written
// last: without it the files are not a dump. A dump that is read back is checked against the digests of its files, and every
// value is decoded to prove that a graph can hold it. A restore compares the contents of both graphs.
import { pipeline } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { createGunzip, createGzip } from 'node:zlib';
import * as v from 'valibot';
import { countSchema, sha256Schema } from '../json/schemas.ts';
import {
  type Artifact,
  type ArtifactStore,
  MAX_LINE_LENGTH,
  measureContent,
  measureStream,
  readJson,
  splitIntoBatches,
  splitLines,
  writeJson,
} from '../ports/artifacts.ts';
import { isRefusal, isRetryableFailure, Refusal } from '../refusals.ts';
import { translateFailure } from '../runs/failures.ts';
import {
  type GraphNode,
  type GraphRelationship,
  type GraphSource,
  RESTORE_ID,
  RESTORE_LABEL,
  type SchemaRule,
} from './graph-store.ts';
import { rebuildRules } from './schema-statement.ts';
import { decodeProperties } from './values.ts';

interface DumpOptions {
  readonly source: GraphSource;
  readonly artifacts: ArtifactStore;
  /** Key prefix of the dump */
  readonly prefix: string;
  readonly runId: string;
  readonly now: () => Date;
}

/**
 * A dump that was interrupted has no manifest, and starts again.
 * @throws Refusal if the graph changes meanwhile or holds something that a dump cannot, or if a finished dump must be kept
 */
export async function dumpGraph(options: DumpOptions): Promise<GraphManifest> {
  const { source, artifacts, prefix, runId, now } = options;
  // Deleted first: an older manifest must never describe newer files.
  await artifacts.delete(dumpKeys(prefix).manifest);
  const startedAt = now().toISOString();
  const before = await readState(source);
  const { files, contents } = await writeFiles(options);
  const after = await readState(source);
  assertStill(before, after, contents);
  const manifest = v.parse(manifestSchema, {
    format: DUMP_FORMAT,
    runId,
    server: await source.readServer(),
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

async function writeFiles({ source, artifacts, prefix }: DumpOptions) {
  const keys = dumpKeys(prefix);
  const contents = { nodes: 0, relationships: 0 };
  // Refuses a schema that no restore would accept.
  const schema = await writeJson(artifacts, keys.schema, rebuildRules(await source.readSchema()));
  const nodes = await writeLines(artifacts, keys.nodes, countRows('nodes', source.streamNodes()));
  const relationships = await writeLines(
    artifacts,
    keys.relationships,
    countRows('relationships', source.streamRelationships()),
  );
  return { files: { nodes, relationships, schema }, contents };

  async function* countRows(
    kind: keyof typeof contents,
    rows: AsyncIterable<GraphNode | GraphRelationship>,
  ) {
    for await (const row of rows) {
      assertNoMark(row);
      contents[kind] += 1;
      yield row;
    }
  }
}

async function readState(source: GraphSource): Promise<GraphManifest['before']> {
  return { size: await source.readSize(), position: await source.readPosition() };
}

function assertStill(
  { size, position }: GraphManifest['before'],
  after: GraphManifest['after'],
  contents: GraphManifest['contents'],
): void {
  for (const kind of ['nodes', 'relationships'] as const) {
    const seen = [size[kind], contents[kind], after.size[kind]];
    if (new Set(seen).size === 1) continue;
    throw graphChanged(`There were ${seen.join(', then ')} ${kind} before, in and after the dump`);
  }
  if (position !== after.position) {
    throw graphChanged('Transactions were committed to the graph during the dump');
  }
}

function assertNoMark(row: GraphNode | GraphRelationship): void {
  const isMarked = 'labels' in row && row.labels.includes(RESTORE_LABEL);
  if (!isMarked && !Object.hasOwn(row.properties, RESTORE_ID)) return;
  const what = isMarked ? `the label ${RESTORE_LABEL}` : `the property ${RESTORE_ID}`;
  const why = `The graph uses ${what}, which marks a restore that was never finished.`;
  throw new Refusal('RefusedByService', why);
}

// A graph that changed while it was read is not a dump: stop the writers, then dump again.
function graphChanged(why: string): Refusal {
  return new Refusal('RefusedNotFrozen', `${why}.`);
}

const DUMP_FORMAT = 'graph-dump/4';

const file = v.object({ key: v.string(), bytes: countSchema, sha256: sha256Schema });
const size = v.object({ nodes: countSchema, relationships: countSchema });

const state = v.object({ size, position: v.string() });

const manifestSchema = v.object({
  /** Dumps of format 3 have more counts, which nothing reads. */
  format: v.picklist([DUMP_FORMAT, 'graph-dump/3']),
  runId: v.string(),
  server: v.object({ version: v.string(), edition: v.string() }),
  startedAt: v.pipe(v.string(), v.isoTimestamp()),
  finishedAt: v.pipe(v.string(), v.isoTimestamp()),
  /** Equal to `after`, because nothing was written meanwhile */
  before: state,
  after: state,
  contents: size,
  files: v.object({ nodes: file, relationships: file, schema: file }),
});

export type GraphManifest = v.InferOutput<typeof manifestSchema>;

export function dumpKeys(prefix: string) {
  return {
    nodes: `${prefix}/nodes.jsonl.gz`,
    relationships: `${prefix}/rels.jsonl.gz`,
    schema: `${prefix}/schema.json`,
    manifest: `${prefix}/manifest.json`,
  };
}

/** @throws Refusal if no dump was finished */
export async function readDumpManifest(
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

/** @throws Refusal for a statement that Neo4j does not write */
export async function readSchema(
  artifacts: ArtifactStore,
  prefix: string,
): Promise<readonly SchemaRule[]> {
  return rebuildRules(v.parse(schemaFile, await readJson(artifacts, dumpKeys(prefix).schema)));
}

/** Digest of the manifest, which has the digests of all files: it identifies the whole dump. */
export async function digestDump(artifacts: ArtifactStore, prefix: string): Promise<string> {
  return (await measureStream(artifacts.get(dumpKeys(prefix).manifest))).sha256;
}

/**
 * Reads the whole dump and compares it with its manifest: the digest and length of each file, and every value.
 * @throws Refusal if the dump is damaged or unfinished; a transient failure unchanged
 */
export async function verifyDump(artifacts: ArtifactStore, prefix: string): Promise<GraphManifest> {
  const manifest = await readDumpManifest(artifacts, prefix);
  const found = await readEverything(artifacts, prefix, manifest.contents).catch(
    (cause: unknown) => {
      // A store that cannot be reached says nothing about the dump.
      if (isRetryableFailure(translateFailure(cause))) throw cause;
      if (isRefusal(cause, 'RefusedSnapshot')) throw cause;
      const why = `The dump ${prefix} cannot be read to its end.`;
      throw new Refusal('RefusedSnapshot', why, { cause });
    },
  );
  for (const [part, { bytes, sha256 }] of Object.entries(manifest.files)) {
    if (isDeepStrictEqual(found[part as keyof typeof found], { bytes, sha256 })) continue;
    throw new Refusal('RefusedSnapshot', `The ${part} of the dump do not match its manifest.`);
  }
  return manifest;
}

async function readEverything(
  artifacts: ArtifactStore,
  prefix: string,
  contents: GraphManifest['contents'],
) {
  const nodes = readNodes(artifacts, prefix);
  const relationships = readRelationships(artifacts, prefix);
  await readRows('nodes', nodes.values);
  await readRows('relationships', relationships.values);
  await readSchema(artifacts, prefix);
  return {
    nodes: nodes.measure(),
    relationships: relationships.measure(),
    schema: await measureStream(artifacts.get(dumpKeys(prefix).schema)),
  };

  // Stops after the number in the manifest: a small file may inflate without end.
  async function readRows(
    kind: keyof typeof contents,
    rows: AsyncIterable<GraphNode | GraphRelationship>,
  ): Promise<void> {
    let count = 0;
    for await (const { properties } of rows) {
      count += 1;
      if (count > contents[kind]) break;
      decodeProperties(properties);
    }
    if (count === contents[kind]) return;
    const why = `The dump has more or fewer ${kind} than the ${contents[kind]} in its manifest.`;
    throw new Refusal('RefusedSnapshot', why);
  }
}

/** Lines of one chunk: with an embedding in each, a megabyte */
const LINES_PER_CHUNK = 100;

/** Writes compressed lines. @internal Its test breaks files off at every byte. */
export async function writeLines(
  artifacts: ArtifactStore,
  key: string,
  values: AsyncIterable<unknown> | Iterable<unknown>,
): Promise<Artifact> {
  async function* text() {
    for await (const batch of splitIntoBatches(values, LINES_PER_CHUNK)) {
      yield Buffer.from(batch.map(toLine).join(''));
    }
  }

  return await artifacts.put(key, pipeline(text, createGzip(), ignoreOutcome));
}

/** @throws Refusal for a row that is too long to be read back */
function toLine(value: unknown): string {
  const line = JSON.stringify(value);
  if (line.length <= MAX_LINE_LENGTH) return `${line}\n`;
  const why = `A row of the graph takes ${line.length} characters as JSON, and a dump at most ${MAX_LINE_LENGTH}: ${line.slice(0, 100)}`;
  throw new Refusal('RefusedByService', why);
}

/** Reads lines and measures the artifact. Call `measure` once, at the end. @internal As above. */
export function readLines<Line>(artifacts: ArtifactStore, key: string) {
  const { content, measure } = measureContent(artifacts.get(key));

  async function* values(): AsyncGenerator<Line> {
    const text = pipeline(content, createGunzip(), ignoreOutcome);
    for await (const line of splitLines(text)) yield JSON.parse(line);
  }

  return { values: values(), measure };
}

// A pipeline reports the failure of any of its streams to this callback, and to the last stream.
function ignoreOutcome(): void {}
