// The manifest of a graph dump. It is written last: without it, what is there is no dump.
import * as v from 'valibot';
import type { ArtifactStore } from '../ports/artifacts.ts';
import { readJson, writeJson } from '../ports/json-artifact.ts';
import type { Counts } from './fingerprint.ts';

export const DUMP_FORMAT = 'graph-dump/2';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const measure = v.object({ bytes: count, sha256 });
const linesFile = v.object({ key: v.string(), lines: count, raw: measure, compressed: measure });
// Not a record of valibot's, which leaves out names such as "constructor": labels and users may be called that.
const counts = v.custom<Counts>(isCounts);
const size = v.object({ nodes: count, relationships: count });

const manifest = v.object({
  format: v.literal(DUMP_FORMAT),
  runId: v.string(),
  server: v.object({ version: v.string(), edition: v.string(), database: v.string() }),
  startedAt: v.pipe(v.string(), v.isoTimestamp()),
  finishedAt: v.pipe(v.string(), v.isoTimestamp()),
  /** Equal before and after: nothing was written meanwhile. */
  before: v.object({ size, position: v.string() }),
  after: v.object({ size, position: v.string() }),
  contents: v.object({
    nodes: count,
    relationships: count,
    nodesDigest: sha256,
    relationshipsDigest: sha256,
    nodesPerLabel: counts,
    relationshipsPerType: counts,
    nodesPerUser: counts,
    nodesWithoutUser: count,
    validRelationships: count,
    invalidRelationships: count,
  }),
  files: v.object({
    nodes: linesFile,
    relationships: linesFile,
    schema: v.object({ key: v.string(), ...measure.entries }),
  }),
});

function isCounts(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).every((number) => v.is(count, number));
}

export type GraphManifest = v.InferOutput<typeof manifest>;

export interface DumpKeys {
  readonly nodes: string;
  readonly relationships: string;
  readonly schema: string;
  readonly manifest: string;
}

export function dumpKeys(prefix: string): DumpKeys {
  return {
    nodes: `${prefix}/nodes.jsonl.gz`,
    relationships: `${prefix}/rels.jsonl.gz`,
    schema: `${prefix}/schema.json`,
    manifest: `${prefix}/manifest.json`,
  };
}

export async function writeManifest(
  artifacts: ArtifactStore,
  prefix: string,
  content: GraphManifest,
): Promise<void> {
  await writeJson(artifacts, dumpKeys(prefix).manifest, v.parse(manifest, content));
}

/** @throws Refusal where no dump was finished */
export async function readManifest(
  artifacts: ArtifactStore,
  prefix: string,
): Promise<GraphManifest> {
  return v.parse(manifest, await readJson(artifacts, dumpKeys(prefix).manifest));
}
