// Dumps a graph, reads the dump back, and prints the peak memory. Exits with 1 if the peak is above the limit.
// Usage: node bench/migration/measure-graph-dump.ts [megabytes] [limit in megabytes]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileArtifacts } from '../../lib/migration/adapters/file-artifacts.ts';
import { dumpGraph, verifyDump } from '../../lib/migration/graph/dump.ts';
import type { GraphSource } from '../../lib/migration/graph/graph-store.ts';

const MEGABYTE = 1024 * 1024;
const DIMENSIONS = 1536;
// Size of a node and a relationship together, with the node's embedding in base64.
const NODE_BYTES = 8_600;

const [megabytes = 1024, limit = 512] = process.argv.slice(2).map(Number);
const nodeCount = Math.ceil((megabytes * MEGABYTE) / NODE_BYTES);
const now = () => new Date();
let rawBytes = 0;

const folder = await mkdtemp(join(tmpdir(), 'graph-dump-'));
try {
  const artifacts = createFileArtifacts({ folder, now });
  const started = performance.now();
  const options = { artifacts, prefix: 'dump', runId: 'measure', now };
  const { contents } = await dumpGraph({ source: createSource(), ...options });
  const dumped = performance.now();
  await verifyDump(artifacts, 'dump');
  const verified = performance.now();
  const peak = Math.ceil(process.resourceUsage().maxRSS / 1024);
  console.log(
    `${contents.nodes} nodes and ${contents.relationships} relationships, ${Math.round(rawBytes / MEGABYTE)} MB: ` +
      `dumped in ${formatSeconds(started, dumped)} s, verified in ${formatSeconds(dumped, verified)} s, ` +
      `at most ${peak} MB resident (limit ${limit} MB)`,
  );
  if (peak > limit) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true });
}

/** Generates the graph while it is read, so that the graph itself takes no memory. */
function createSource(): GraphSource {
  return {
    readServer: async () => ({ version: '5.26.0', edition: 'made up' }),
    readSize: async () => ({ nodes: nodeCount, relationships: nodeCount }),
    readPosition: async () => 'still',
    readSchema: async () => [],
    streamNodes: async function* () {
      const embedding = Buffer.alloc(DIMENSIONS * 4);
      for (let n = 0; n < nodeCount; n += 1) {
        embedding.writeFloatLE(n / nodeCount, (n % DIMENSIONS) * 4);
        const name = `entity ${n}`;
        const $f32 = embedding.toString('base64');
        const properties = { name, user_id: `user ${n % 1000}`, embedding: { $f32 } };
        yield countBytes({ id: `4:made-up:${n}`, labels: ['__Entity__'], properties });
      }
    },
    streamRelationships: async function* () {
      for (let n = 0; n < nodeCount; n += 1) {
        const [start, end] = [`4:made-up:${n}`, `4:made-up:${(n * 7) % nodeCount}`];
        const properties = { valid: true };
        yield countBytes({ id: `5:made-up:${n}`, type: 'knows', start, end, properties });
      }
    },
  };
}

function countBytes<Row>(row: Row): Row {
  rawBytes += JSON.stringify(row).length + 1;
  return row;
}

function formatSeconds(from: number, to: number): string {
  return ((to - from) / 1000).toFixed(1);
}
