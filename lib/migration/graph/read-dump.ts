// Reads a dump back: nodes and relationships as they were, every part of every line looked at.
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { isRetryable } from '../../store/retryable-errors.ts';
import { type ArtifactStore, measureOf, readJson } from '../ports/artifacts.ts';
import { isRefusal, Refusal, RetryableFailure } from '../refusals.ts';
import { dumpKeys, type GraphManifest, readManifest } from './dump.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { GraphNode, GraphRelationship, SchemaRule } from './graph-store.ts';
import { type LinesReader, readLines } from './json-lines.ts';
import { parseProperties } from './values.ts';

const nodeLine = v.object({ id: v.string(), labels: v.array(v.string()), properties: v.unknown() });

const relationshipLine = v.object({
  id: v.string(),
  type: v.string(),
  start: v.string(),
  end: v.string(),
  properties: v.unknown(),
});

const schemaFile = v.array(v.object({ name: v.string(), type: v.string(), statement: v.string() }));

export async function* nodesOf({ values }: LinesReader): AsyncIterable<GraphNode> {
  for await (const value of values) {
    const node = v.parse(nodeLine, value);
    yield { ...node, properties: parseProperties(node.properties, `node ${node.id}`) };
  }
}

export async function* relationshipsOf({ values }: LinesReader): AsyncIterable<GraphRelationship> {
  for await (const value of values) {
    const line = v.parse(relationshipLine, value);
    yield { ...line, properties: parseProperties(line.properties, `relationship ${line.id}`) };
  }
}

export async function readSchema(
  artifacts: ArtifactStore,
  prefix: string,
): Promise<readonly SchemaRule[]> {
  return v.parse(schemaFile, await readJson(artifacts, dumpKeys(prefix).schema));
}

/**
 * Reads the whole dump and holds it against its manifest: digests, lengths, lines, every value, both ends of every
 * relationship, and what the graph held.
 * @throws Refusal when the dump is damaged, or none was finished; a failure that passes by itself as it is
 */
export async function verifyDump(artifacts: ArtifactStore, prefix: string): Promise<GraphManifest> {
  const manifest = await readManifest(artifacts, prefix);
  try {
    const found = await readEverything(artifacts, prefix);
    for (const [part, wanted] of Object.entries({
      ...manifest.files,
      contents: manifest.contents,
    })) {
      assertSame(part, wanted, found[part as keyof typeof found]);
    }
  } catch (cause) {
    // A store that cannot be reached says nothing of what is kept.
    if (cause instanceof RetryableFailure || isRetryable(cause)) throw cause;
    if (isRefusal(cause, 'RefusedSnapshot')) throw cause;
    const why = `The dump ${prefix} cannot be read to its end.`;
    throw new Refusal('RefusedSnapshot', why, { cause });
  }
  return manifest;
}

async function readEverything(artifacts: ArtifactStore, prefix: string) {
  const keys = dumpKeys(prefix);
  const nodes = readLines(artifacts, keys.nodes);
  const relationships = readLines(artifacts, keys.relationships);
  const contents = await fingerprintOf({
    nodes: () => nodesOf(nodes),
    relationships: () => relationshipsOf(relationships),
  });
  await readSchema(artifacts, prefix);
  const schema = { key: keys.schema, ...(await measureOf(artifacts.get(keys.schema))) };
  return { nodes: nodes.file(), relationships: relationships.file(), schema, contents };
}

function assertSame(part: string, wanted: unknown, found: unknown): void {
  if (isDeepStrictEqual(wanted, found)) return;
  const why = `The ${part} of the dump are not as the manifest says.`;
  throw new Refusal('RefusedSnapshot', why);
}
