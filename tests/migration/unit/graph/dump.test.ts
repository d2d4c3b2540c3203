// A dump that is incomplete, or does not show a single moment, is refused: when it is written, and again when it is read.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, onTestFinished, test, vi } from 'vitest';
import { restoreGraph } from '../../../../cli/migration/restore-graph/restore.ts';
import {
  listDumpKeys,
  readDumpManifest,
  readLines,
  verifyDump,
  writeLines,
} from '../../../../lib/migration/graph/dump.ts';
import type { GraphSource } from '../../../../lib/migration/graph/graph-store.ts';
import {
  type ArtifactStore,
  MAX_LINE_LENGTH,
  writeJson,
} from '../../../../lib/migration/ports/artifacts.ts';
import { createSandboxGraph, type SandboxGraph } from '../../../../sandbox/graph.ts';
import { openArtifactFolder } from '../../support/artifact-folder.ts';
import { DUMP_PREFIX, dump, fillWithSample } from '../../support/filled-graph.ts';

/** Change during the read, or content that is read instead */
type Disturbance = (graph: SandboxGraph) => Partial<GraphSource> | string;

test.each<[string, string, Disturbance]>([
  [
    'a node appears after the reader has passed',
    'RefusedNotFrozen',
    (graph) => ({
      streamNodes: async function* () {
        yield* graph.streamNodes();
        graph.addNode({ labels: ['late'], properties: {} });
      },
    }),
  ],
  [
    'a node is seen twice',
    'RefusedNotFrozen',
    (graph) => ({
      streamNodes: async function* () {
        yield* graph.streamNodes();
        yield* takeFirst(graph.streamNodes());
      },
    }),
  ],
  [
    'a relationship is missed',
    'RefusedNotFrozen',
    (graph) => ({ streamRelationships: () => takeFirst(graph.streamRelationships()) }),
  ],
  [
    'the node at the end of a relationship is missed',
    'RefusedNotFrozen',
    (graph) => ({
      streamNodes: async function* () {
        for await (const node of graph.streamNodes())
          if (!node.labels.includes('person')) yield node;
      },
    }),
  ],
  [
    'only the commit position shows that something was written',
    'RefusedNotFrozen',
    () => {
      let reads = 0;
      return { readPosition: async () => `FB:${reads++}` };
    },
  ],
  [
    'it contains an unfinished restore',
    'RefusedByService',
    (graph) => graph.addNode({ labels: ['_Restore'], properties: {} }),
  ],
  [
    'a property has the name that a restore needs',
    'RefusedByService',
    (graph) => graph.addNode({ labels: [], properties: { _restoreId: 'mine' } }),
  ],
])('A graph is not dumped when %s', async (_, name, disturb) => {
  const { artifacts } = await openArtifactFolder();
  const graph = await fillWithSample(createSandboxGraph());
  const disturbed = disturb(graph);
  const source = typeof disturbed === 'string' ? graph : { ...graph, ...disturbed };
  await expect(dump(source, artifacts)).rejects.toThrow(expect.objectContaining({ name }));
  await expect(readDumpManifest(artifacts, DUMP_PREFIX)).rejects.toThrow('There is no artifact');
});

test('A dump that fails removes the manifest of an earlier one', async () => {
  const { artifacts } = await openArtifactFolder();
  const graph = await fillWithSample(createSandboxGraph());
  await dump(graph, artifacts);
  const broken: GraphSource = {
    ...graph,
    // biome-ignore lint/correctness/useYield: it breaks before the first row
    streamRelationships: async function* () {
      throw new Error('the connection broke');
    },
  };
  await expect(dump(broken, artifacts)).rejects.toThrow('the connection broke');
  await expect(readDumpManifest(artifacts, DUMP_PREFIX)).rejects.toThrow('There is no artifact');
});

test('A retained dump is not overwritten', async () => {
  const { artifacts } = await openArtifactFolder();
  const graph = await fillWithSample(createSandboxGraph());
  const manifest = await dump(graph, artifacts);
  await artifacts.retain(`${DUMP_PREFIX}/manifest.json`, new Date(Date.now() + 3_600_000));
  await expect(dump(graph, artifacts)).rejects.toThrow(
    expect.objectContaining({ name: 'RefusedNotNow' }),
  );
  expect(await readDumpManifest(artifacts, DUMP_PREFIX)).toEqual(manifest);
});

const FILES = { nodes: 'nodes.jsonl.gz', rels: 'rels.jsonl.gz', schema: 'schema.json' } as const;

type Damage = (bytes: Buffer) => Buffer;

/** Rewrites a whole file, whose digest then differs from the one in the manifest. */
const rewrite =
  (change: (text: string) => string): Damage =>
  (bytes) =>
    gzipSync(change(gunzipSync(bytes).toString()));

test.each<[string, keyof typeof FILES, Damage]>([
  ['the nodes end early', 'nodes', (bytes) => bytes.subarray(0, bytes.length - 20)],
  ['a byte of the nodes has changed', 'nodes', flipByte],
  ['a byte of the relationships has changed', 'rels', flipByte],
  ['the file of nodes is empty', 'nodes', () => Buffer.alloc(0)],
  ['the last line has no end', 'nodes', rewrite((text) => text.slice(0, -1))],
  [
    'the nodes are compressed again, with the same lines',
    'nodes',
    (bytes) => gzipSync(gunzipSync(bytes), { level: 1 }),
  ],
  [
    'the schema has changed',
    'schema',
    (bytes) => Buffer.from(bytes.toString().replace('code', 'core')),
  ],
])('A dump is refused if %s', async (_, file, damage) => {
  const { folder, artifacts } = await dumpSample();
  const path = join(folder, DUMP_PREFIX, FILES[file]);
  // The damaged file gets its own valid record, so that only the manifest can reveal the damage.
  await artifacts.put(`${DUMP_PREFIX}/${FILES[file]}`, [damage(await readFile(path))]);
  const refusal = expect.objectContaining({ name: 'RefusedSnapshot' });
  await expect(verifyDump(artifacts, DUMP_PREFIX)).rejects.toThrow(refusal);
  const target = createSandboxGraph();
  await expect(restoreGraph({ artifacts, prefix: DUMP_PREFIX, target })).rejects.toThrow(refusal);
  expect(await target.readSize()).toEqual({ nodes: 0, relationships: 0 });
});

test('A dump of an earlier release is read back and restored', async () => {
  const { artifacts } = await dumpSample();
  const manifest = await readDumpManifest(artifacts, DUMP_PREFIX);
  const contents = { ...manifest.contents, counts: { 'nodesPerUser alice': 2 } };
  const text = JSON.stringify({ ...manifest, format: 'graph-dump/3', contents });
  await artifacts.put(`${DUMP_PREFIX}/manifest.json`, [Buffer.from(text)]);
  const { contents: found } = await verifyDump(artifacts, DUMP_PREFIX);
  expect(found).toEqual(manifest.contents);
  const options = { artifacts, prefix: DUMP_PREFIX };
  const { differences } = await restoreGraph({ ...options, target: createSandboxGraph() });
  expect(differences).toEqual([]);
});

test('A read that fails for a moment does not make a dump invalid', async () => {
  const { artifacts } = await dumpSample();
  const reset = Object.assign(new Error('read'), { code: 'ECONNRESET' });
  const failing: ArtifactStore = {
    ...artifacts,
    async *get(key) {
      yield* artifacts.get(key);
      if (key.endsWith('nodes.jsonl.gz')) throw reset;
    },
  };
  await expect(verifyDump(failing, DUMP_PREFIX)).rejects.toBe(reset);
});

const LONG = 'é🧾\u2028\u2029\r\n'.repeat(40_000);

test('lines are read back unchanged, with the figures that were measured', async () => {
  const { artifacts } = await openArtifactFolder();
  // Characters of several bytes lie across every edge between two chunks.
  const values = ['', 'x', LONG, { text: LONG }, [1, null, true]];
  const written = await writeLines(artifacts, 'lines', values);
  const reader = readLines(artifacts, 'lines');
  expect(await Array.fromAsync(reader.values)).toEqual(values);
  expect(written).toMatchObject({ key: 'lines', ...reader.measure() });
});

test('a text is decoded wherever a chunk ends', async () => {
  const lines = [{ a: 'é🧾' }, { b: '\u2028' }, 'x'];
  const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  for (let size = 1; size <= bytes.length; size += 1) {
    const { values } = readLines(serveBytes(gzipSync(bytes, { level: 0 }), size), 'lines');
    expect(await Array.fromAsync(values)).toEqual(lines);
  }
});

test('each chunk of a long line is searched for the end of the line only once', async () => {
  const bytes = Buffer.from(`${JSON.stringify('x'.repeat(4_000_000))}\n`);
  const { values } = readLines(serveBytes(gzipSync(bytes), 16_384), 'lines');
  const split = vi.spyOn(String.prototype, 'split');
  onTestFinished(() => split.mockRestore());
  await Array.fromAsync(values);
  const searched = split.mock.contexts.reduce<number>((sum, text) => sum + String(text).length, 0);
  expect(split).toHaveBeenCalled();
  expect(searched).toBeLessThan(2 * bytes.length);
});

test('a line that is too long is refused, both when written and when read', async () => {
  const endless = 'x'.repeat(MAX_LINE_LENGTH + 1);
  const read = readLines(serveBytes(gzipSync(`"${endless}"\n`), 16_384), 'lines');
  await expect(Array.fromAsync(read.values)).rejects.toThrow('A line is longer than');
  const { artifacts } = await openArtifactFolder();
  await expect(writeLines(artifacts, 'lines', [endless])).rejects.toThrow(
    'but a dump allows at most',
  );
});

test('rows beyond those in the manifest are refused, however many follow', async () => {
  const { artifacts } = await openArtifactFolder();
  const graph = createSandboxGraph();
  await fillWithSample(graph);
  await dump(graph, artifacts);
  const manifest = await readDumpManifest(artifacts, DUMP_PREFIX);
  const rows = Array.from({ length: 10_000 }, () => ({ properties: {} }));
  const { key, bytes, sha256 } = await writeLines(artifacts, listDumpKeys(DUMP_PREFIX).nodes, rows);
  const files = { ...manifest.files, nodes: { key, bytes, sha256 } };
  await writeJson(artifacts, listDumpKeys(DUMP_PREFIX).manifest, { ...manifest, files });
  await expect(verifyDump(artifacts, DUMP_PREFIX)).rejects.toThrow(
    'The dump has more or fewer nodes than',
  );
});

test('a file without lines is valid', async () => {
  const { artifacts } = await openArtifactFolder();
  await writeLines(artifacts, 'lines', []);
  expect(await Array.fromAsync(readLines(artifacts, 'lines').values)).toEqual([]);
});

test('a file that is cut off at any byte is refused', async () => {
  const complete = gzipSync('{"a":1}\n{"b":2}\n');
  for (let length = 0; length < complete.length; length += 1) {
    const { values } = readLines(serveBytes(complete.subarray(0, length), 7), 'lines');
    await expect(Array.fromAsync(values), `${length} bytes`).rejects.toThrow();
  }
});

test('an error while rows are read leaves no file', async () => {
  const { artifacts } = await openArtifactFolder();
  const rows = (async function* () {
    yield 1;
    throw new Error('the connection broke');
  })();
  await expect(writeLines(artifacts, 'lines', rows)).rejects.toThrow('the connection broke');
  expect(await artifacts.find('lines')).toBeUndefined();
});

async function* takeFirst<Row>(rows: AsyncIterable<Row>): AsyncIterable<Row> {
  for await (const row of rows) {
    yield row;
    return;
  }
}

async function dumpSample() {
  const { folder, artifacts } = await openArtifactFolder();
  const source = await fillWithSample(createSandboxGraph());
  await dump(source, artifacts);
  return { folder, artifacts };
}

function flipByte(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const middle = copy.length >> 1;
  copy[middle] = (copy[middle] ?? 0) ^ 1;
  return copy;
}

function serveBytes(bytes: Buffer, chunkSize: number): ArtifactStore {
  const unused = () => {
    throw new Error('unexpected call');
  };
  return {
    put: unused,
    find: unused,
    list: unused,
    retain: unused,
    delete: unused,
    deleteAll: unused,
    get: async function* () {
      for (let start = 0; start < bytes.length; start += chunkSize)
        yield bytes.subarray(start, start + chunkSize);
    },
  };
}
