// Reads a dump back. That it is what was dumped is proved by the digests of its files; that a graph can hold it, by decoding
// every value.
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { isRetryable } from '../../store/retryable-errors.ts';
import { type ArtifactStore, measureOf, readJson } from '../ports/artifacts.ts';
import { isRefusal, Refusal, RetryableFailure } from '../refusals.ts';
import { dumpKeys, type GraphManifest, readManifest } from './dump.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { GraphNode, GraphRelationship, SchemaRule } from './graph-store.ts';
import { readLines } from './json-lines.ts';
import { decodeProperties, type Properties } from './values.ts';

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
    if (cause instanceof RetryableFailure || isRetryable(cause)) throw cause;
    if (isRefusal(cause, 'RefusedSnapshot')) throw cause;
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
