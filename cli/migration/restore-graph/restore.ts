// Restores a dump into an empty graph, and proves that the graph equals the dump.
import { isDeepStrictEqual } from 'node:util';
import {
  readNodes,
  readRelationships,
  readSchema,
  verifyDump,
} from '../../../lib/migration/graph/dump.ts';
import type { SchemaRule } from '../../../lib/migration/graph/graph-store.ts';
import { rebuildStatement } from '../../../lib/migration/graph/schema-statement.ts';
import { type ArtifactStore, splitIntoBatches } from '../../../lib/migration/ports/artifacts.ts';
import { Refusal } from '../../../lib/migration/refusals.ts';
import { computeFingerprint, type GraphFingerprint } from './fingerprint.ts';
import type { GraphTarget } from './graph-target.ts';

interface RestoreOptions {
  readonly artifacts: ArtifactStore;
  /** Key prefix of the dump */
  readonly prefix: string;
  readonly target: GraphTarget;
  /** Number of rows in one transaction */
  readonly batchSize?: number;
}

/**
 * Restores the dump, or resumes a killed restore without creating nodes twice.
 * @returns differences between the dump and the graph; none after a complete restore
 * @throws Refusal before anything is written, if the target has other nodes or the dump is damaged or missing
 */
export async function restoreGraph(options: RestoreOptions) {
  const { artifacts, prefix, target } = options;
  const manifest = await verifyDump(artifacts, prefix);
  const schema = await readSchema(artifacts, prefix);
  const expected = await computeFingerprint({
    streamNodes: () => readNodes(artifacts, prefix).values,
    streamRelationships: () => readRelationships(artifacts, prefix).values,
  });
  const state = await target.readRestoreState();
  const foreignNodes = state === 'finishing' ? 0 : await target.countForeignNodes();
  if (foreignNodes === 0) {
    if (state !== 'finishing') await fill(options);
    await target.createSchema(schema);
    // The marks are removed last: without them, an unfinished restore would look like any other graph.
    await target.finishRestore();
  }
  const differences = [
    ...compareFingerprints(expected, await computeFingerprint(target)),
    ...compareSchema(schema, await target.readSchema()),
  ];
  // After a restore that was killed after its last step, the graph is not empty but equals the dump.
  if (foreignNodes === 0 || differences.length === 0) return { manifest, differences };
  throw new Refusal(
    'RefusedByService',
    `The target is not empty: it has ${foreignNodes} nodes that this restore did not create.`,
  );
}

async function fill({ artifacts, prefix, target, batchSize = 500 }: RestoreOptions): Promise<void> {
  await target.beginRestore();
  const nodes = readNodes(artifacts, prefix).values;
  for await (const batch of splitIntoBatches(nodes, batchSize)) await target.restoreNodes(batch);
  const relationships = readRelationships(artifacts, prefix).values;
  for await (const batch of splitIntoBatches(relationships, batchSize)) {
    await target.restoreRelationships(batch);
  }
}

export interface GraphDifference {
  /** The compared figure, such as "nodes" or "nodesPerLabel Person" */
  readonly what: string;
  readonly wanted: number | string;
  readonly found: number | string;
}

/** Lists differences: counts first, because they say more than digests. */
export function compareFingerprints(
  expected: GraphFingerprint,
  actual: GraphFingerprint,
): GraphDifference[] {
  const [expectedFigures, actualFigures] = [pickFigures(expected), pickFigures(actual)];
  return [...new Set([...expectedFigures.keys(), ...actualFigures.keys()])]
    .map((what) => ({
      what,
      wanted: expectedFigures.get(what) ?? 0,
      found: actualFigures.get(what) ?? 0,
    }))
    .filter((figure) => figure.wanted !== figure.found);
}

function pickFigures({ nodes, relationships, counts, ...digests }: GraphFingerprint) {
  return new Map(Object.entries({ nodes, relationships, ...counts, ...digests }));
}

/** Lists the rules that the graph lacks or that differ there. Additional rules of the graph are ignored. */
export function compareSchema(
  expected: readonly SchemaRule[],
  actual: readonly SchemaRule[],
): GraphDifference[] {
  return expected
    .filter((rule) => rule.type !== 'LOOKUP')
    .map((rule) => ({ rule, counterpart: actual.find(({ name }) => name === rule.name) }))
    .filter(
      ({ rule, counterpart }) =>
        !counterpart || !isDeepStrictEqual(normalizeRule(rule), normalizeRule(counterpart)),
    )
    .map(({ rule, counterpart }) => ({
      what: `schema ${rule.name}`,
      wanted: rule.statement,
      found: counterpart?.statement ?? 'nothing',
    }));
}

/**
 * Rebuilds the statement, because its spacing depends on the version of Neo4j. A statement that cannot be rebuilt stays unchanged.
 */
function normalizeRule(rule: SchemaRule): SchemaRule {
  try {
    return { ...rule, statement: rebuildStatement(rule.statement) };
  } catch {
    return rule;
  }
}
