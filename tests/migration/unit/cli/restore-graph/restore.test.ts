// A restored graph contains everything that was dumped, even if the restore was killed and repeated. Anything missing is named.
import { describe, expect, test } from 'vitest';
import { computeFingerprint } from '../../../../../cli/migration/restore-graph/fingerprint.ts';
import type {
  GraphRestore,
  GraphTarget,
} from '../../../../../cli/migration/restore-graph/graph-target.ts';
import {
  compareFingerprints,
  compareSchema,
  restoreGraph,
} from '../../../../../cli/migration/restore-graph/restore.ts';
import { createSandboxGraph } from '../../../../../sandbox/graph.ts';
import { openArtifactFolder } from '../../../support/artifact-folder.ts';
import { DUMP_PREFIX, dump, fillWithSample } from '../../../support/filled-graph.ts';
import { SAMPLE_SCHEMA } from '../../../support/graph-samples.ts';

const WRITES = [
  'beginRestore',
  'restoreNodes',
  'restoreRelationships',
  'createSchema',
  'finishRestore',
] as const satisfies readonly (keyof GraphRestore)[];

test('A restore that is killed before or after any call continues to the same graph', async () => {
  const artifacts = await dumpSample();
  let kills = 0;
  for (const when of ['before', 'after'] as const) {
    for (let call = 0; ; call += 1) {
      const graph = createSandboxGraph();
      const target = killAt(graph, call, when);
      const killed = await restoreGraph({
        artifacts,
        prefix: DUMP_PREFIX,
        target,
        batchSize: 2,
      }).then(
        () => false,
        () => true,
      );
      if (!killed) break;
      kills += 1;
      const { differences } = await restoreGraph({ artifacts, prefix: DUMP_PREFIX, target: graph });
      expect(differences, `killed ${when} call ${call}`).toEqual([]);
      expect(await graph.readRestoreState()).toBe('none');
    }
  }
  // Every restore writes four batches of nodes and four of relationships, and makes three other calls.
  expect(kills).toBe(2 * (4 + 4 + 3));
});

test('A restore refuses a graph that has other contents, and leaves it unchanged', async () => {
  const artifacts = await dumpSample();
  const target = createSandboxGraph();
  target.addNode({ labels: ['precious'], properties: {} });
  await expect(restoreGraph({ artifacts, prefix: DUMP_PREFIX, target })).rejects.toThrow(
    expect.objectContaining({
      name: 'RefusedByService',
      message: expect.stringContaining('1 nodes'),
    }),
  );
  expect(await target.readSize()).toEqual({ nodes: 1, relationships: 0 });
});

describe('A restore reports every difference from the dump:', () => {
  test.each<[string, (target: GraphTarget) => GraphTarget, string[]]>([
    [
      'a mangled value',
      (target) => ({
        ...target,
        streamNodes: async function* () {
          for await (const node of target.streamNodes()) {
            const { name } = node.properties;
            yield name === 'Grace'
              ? { ...node, properties: { ...node.properties, one: { $f: '1' } } }
              : node;
          }
        },
      }),
      ['nodesDigest', 'relationshipsDigest'],
    ],
    [
      'a lost constraint',
      (target) => ({ ...target, readSchema: async () => [] }),
      ['schema unique_code'],
    ],
  ])('%s', async (_, damage, expected) => {
    const artifacts = await dumpSample();
    const target = damage(createSandboxGraph());
    const { differences } = await restoreGraph({ artifacts, prefix: DUMP_PREFIX, target });
    expect(differences.map(({ what }) => what)).toEqual(expect.arrayContaining(expected));
  });
});

async function dumpSample() {
  const { artifacts } = await openArtifactFolder();
  const source = await fillWithSample(createSandboxGraph());
  await dump(source, artifacts);
  return artifacts;
}

function killAt(graph: GraphTarget, killedCall: number, when: 'before' | 'after'): GraphTarget {
  let calls = 0;
  const wrapped = WRITES.map((name) => [
    name,
    async (argument: never) => {
      const isKilled = calls++ === killedCall;
      if (isKilled && when === 'before') throw new Error('killed');
      await (graph[name] as (argument: never) => Promise<void>)(argument);
      if (isKilled) throw new Error('killed');
    },
  ]);
  return { ...graph, ...Object.fromEntries(wrapped) };
}

const LOOKUP = { name: 'index_1', type: 'LOOKUP', statement: 'CREATE LOOKUP INDEX `index_1` ...' };

test('every count that differs is reported with both sides, and an absent name as 0', async () => {
  const found = await computeFingerprint(await fillWithSample(createSandboxGraph()));
  const { 'nodesPerLabel constructor': _, ...counts } = found.counts;
  const wanted = { ...found, nodes: 8, counts: { ...counts, 'nodesPerLabel Dave': 1 } };
  expect(compareFingerprints(wanted, found)).toEqual([
    { what: 'nodes', wanted: 8, found: 7 },
    { what: 'nodesPerLabel Dave', wanted: 1, found: 0 },
    { what: 'nodesPerLabel constructor', wanted: 0, found: 1 },
  ]);
  expect(compareFingerprints(found, found)).toEqual([]);
});

test('rules are compared by name, without the lookup indexes that every database has', () => {
  const [first, ...rest] = SAMPLE_SCHEMA;
  const changed = SAMPLE_SCHEMA.map((rule) => ({ ...rule, statement: `${rule.statement} ...` }));
  expect(compareSchema([LOOKUP, ...SAMPLE_SCHEMA], SAMPLE_SCHEMA)).toEqual([]);
  expect(compareSchema(SAMPLE_SCHEMA, [...SAMPLE_SCHEMA, { ...LOOKUP, type: 'RANGE' }])).toEqual(
    [],
  );
  expect(compareSchema(SAMPLE_SCHEMA, rest)).toEqual([
    { what: 'schema unique_code', wanted: first?.statement, found: 'nothing' },
  ]);
  expect(compareSchema(SAMPLE_SCHEMA, changed)).toHaveLength(SAMPLE_SCHEMA.length);
});
