// Dumps a whole graph into artifacts, as a stream, and refuses a graph that changes meanwhile. The manifest is written last: files
// without a manifest are not a dump. To verify a dump, its files are compared with their digests, and every value is decoded.
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

interface DumpOptions {
  readonly source: GraphSource;
  readonly artifacts: ArtifactStore;
  /** Key prefix of the dump */
  readonly prefix: string;
  readonly runId: string;
  readonly now: () => Date;
}

/**
 * An interrupted dump has no manifest, and starts again.
 * @throws Refusal if the graph changes meanwhile or contains what a dump cannot represent, or if a finished dump must be kept
 */
export async function dumpGraph(options: DumpOptions): Promise<GraphManifest> {
  const { source, artifacts, prefix, runId, now } = options;
  // The manifest is deleted first: it must never describe newer files.
  await artifacts.delete(listDumpKeys(prefix).manifest);
  const startedAt = now().toISOString();
  const stateBefore = await readState(source);
  const { files, contents } = await writeFiles(options);
  const stateAfter = await readState(source);
  assertUnchanged(stateBefore, stateAfter, contents);
  const manifest = v.parse(manifestSchema, {
    format: DUMP_FORMAT,
    runId,
    server: await source.readServer(),
    startedAt,
    finishedAt: now().toISOString(),
    before: stateBefore,
    after: stateAfter,
    contents,
    files,
  });
  await writeJson(artifacts, listDumpKeys(prefix).manifest, manifest);
  return manifest;
}

async function writeFiles({ source, artifacts, prefix }: DumpOptions) {
  const keys = listDumpKeys(prefix);
  const contents = { nodes: 0, relationships: 0 };
  // Rebuilding refuses a schema that no restore would accept.
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

function assertUnchanged(
  { size, position }: GraphManifest['before'],
  after: GraphManifest['after'],
  contents: GraphManifest['contents'],
): void {
  for (const kind of ['nodes', 'relationships'] as const) {
    const counts = [size[kind], contents[kind], after.size[kind]];
    if (new Set(counts).size === 1) continue;
    throw refuseChangedGraph(
      `There were ${counts.join(', then ')} ${kind} before, during and after the dump`,
    );
  }
  if (position !== after.position) {
    throw refuseChangedGraph('Transactions were committed to the graph during the dump');
  }
}

function assertNoMark(row: GraphNode | GraphRelationship): void {
  const isMarked = 'labels' in row && row.labels.includes(RESTORE_LABEL);
  if (!isMarked && !Object.hasOwn(row.properties, RESTORE_ID)) return;
  const mark = isMarked ? `the label ${RESTORE_LABEL}` : `the property ${RESTORE_ID}`;
  const why = `The graph uses ${mark}, which marks a restore that was never finished.`;
  throw new Refusal('RefusedByService', why);
}

// The remedy is that of any unfrozen service: stop the writers, then repeat the command.
function refuseChangedGraph(why: string): Refusal {
  return new Refusal('RefusedNotFrozen', `${why}.`);
}

const DUMP_FORMAT = 'graph-dump/4';

const fileSchema = v.object({ key: v.string(), bytes: countSchema, sha256: sha256Schema });
const sizeSchema = v.object({ nodes: countSchema, relationships: countSchema });

const stateSchema = v.object({ size: sizeSchema, position: v.string() });

const manifestSchema = v.object({
  /** Dumps of format 3 have further counts, which are ignored. */
  format: v.picklist([DUMP_FORMAT, 'graph-dump/3']),
  runId: v.string(),
  server: v.object({ version: v.string(), edition: v.string() }),
  startedAt: v.pipe(v.string(), v.isoTimestamp()),
  finishedAt: v.pipe(v.string(), v.isoTimestamp()),
  /** Equal to `after`, because the graph did not change meanwhile */
  before: stateSchema,
  after: stateSchema,
  contents: sizeSchema,
  files: v.object({ nodes: fileSchema, relationships: fileSchema, schema: fileSchema }),
});

export type GraphManifest = v.InferOutput<typeof manifestSchema>;

export function listDumpKeys(prefix: string) {
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
  return v.parse(manifestSchema, await readJson(artifacts, listDumpKeys(prefix).manifest));
}

const rulesSchema = v.array(
  v.object({ name: v.string(), type: v.string(), statement: v.string() }),
);

export function readNodes(artifacts: ArtifactStore, prefix: string) {
  return readLines<GraphNode>(artifacts, listDumpKeys(prefix).nodes);
}

export function readRelationships(artifacts: ArtifactStore, prefix: string) {
  return readLines<GraphRelationship>(artifacts, listDumpKeys(prefix).relationships);
}

/** @throws Refusal for a statement that Neo4j does not write */
export async function readSchema(
  artifacts: ArtifactStore,
  prefix: string,
): Promise<readonly SchemaRule[]> {
  return rebuildRules(v.parse(rulesSchema, await readJson(artifacts, listDumpKeys(prefix).schema)));
}

/** Computes the digest of the manifest. It identifies the whole dump, because the manifest has the digests of all files. */
export async function digestDump(artifacts: ArtifactStore, prefix: string): Promise<string> {
  return (await measureStream(artifacts.get(listDumpKeys(prefix).manifest))).sha256;
}

/**
 * Reads the whole dump and compares it with its manifest: the digest and length of each file, and every value.
 * @throws Refusal if the dump is damaged or unfinished; a transient failure unchanged
 */
export async function verifyDump(artifacts: ArtifactStore, prefix: string): Promise<GraphManifest> {
  const manifest = await readDumpManifest(artifacts, prefix);
  const measures = await readDump(artifacts, prefix, manifest.contents).catch((cause: unknown) => {
    // If the artifact store cannot be reached, the dump may be intact.
    if (isRetryableFailure(translateFailure(cause))) throw cause;
    if (isRefusal(cause, 'RefusedSnapshot')) throw cause;
    const why = `The dump ${prefix} cannot be read to its end.`;
    throw new Refusal('RefusedSnapshot', why, { cause });
  });
  for (const [part, { bytes, sha256 }] of Object.entries(manifest.files)) {
    if (isDeepStrictEqual(measures[part as keyof typeof measures], { bytes, sha256 })) continue;
    throw new Refusal('RefusedSnapshot', `The ${part} of the dump do not match its manifest.`);
  }
  return manifest;
}

async function readDump(
  artifacts: ArtifactStore,
  prefix: string,
  contents: GraphManifest['contents'],
) {
  // Imported here because it loads the driver, which only migrations with a graph need.
  const { decodeProperties } = await import('./values.ts');
  const nodes = readNodes(artifacts, prefix);
  const relationships = readRelationships(artifacts, prefix);
  await readRows('nodes', nodes.values);
  await readRows('relationships', relationships.values);
  await readSchema(artifacts, prefix);
  return {
    nodes: nodes.measure(),
    relationships: relationships.measure(),
    schema: await measureStream(artifacts.get(listDumpKeys(prefix).schema)),
  };

  // Stops after the manifest's number of rows: a small file may decompress without end.
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

/** If each line has an embedding, a chunk has about a megabyte. */
const LINES_PER_CHUNK = 100;

/** Writes compressed lines. @internal Exported for a test that truncates the file at every byte. */
export async function writeLines(
  artifacts: ArtifactStore,
  key: string,
  values: AsyncIterable<unknown> | Iterable<unknown>,
): Promise<Artifact> {
  async function* text() {
    for await (const batch of splitIntoBatches(values, LINES_PER_CHUNK)) {
      yield Buffer.from(batch.map(formatLine).join(''));
    }
  }

  return await artifacts.put(key, pipeline(text, createGzip(), ignoreOutcome));
}

/** @throws Refusal for a row that is too long to be read back */
function formatLine(value: unknown): string {
  const line = JSON.stringify(value);
  if (line.length <= MAX_LINE_LENGTH) return `${line}\n`;
  const why = `A row of the graph takes ${line.length} characters as JSON, but a dump allows at most ${MAX_LINE_LENGTH}: ${line.slice(0, 100)}`;
  throw new Refusal('RefusedByService', why);
}

/** Reads lines and measures the artifact. Call `measure` once, at the end. @internal Exported for the same test */
export function readLines<Line>(artifacts: ArtifactStore, key: string) {
  const { content, measure } = measureContent(artifacts.get(key));

  async function* values(): AsyncGenerator<Line> {
    const text = pipeline(content, createGunzip(), ignoreOutcome);
    for await (const line of splitLines(text)) yield JSON.parse(line);
  }

  return { values: values(), measure };
}

// A pipeline reports a failure not only to this callback but also to its last stream, whose reader handles it.
function ignoreOutcome(): void {}
