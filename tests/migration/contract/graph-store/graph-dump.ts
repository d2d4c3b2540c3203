// Contract of a dump: it contains the whole graph, restores to an equal graph, and is refused if the graph changes during the dump.
import { describe, expect, test } from 'vitest';
import type { GraphTarget } from '../../../../cli/migration/restore-graph/graph-target.ts';
import { restoreGraph } from '../../../../cli/migration/restore-graph/restore.ts';
import { verifyDump } from '../../../../lib/migration/graph/dump.ts';
import { openArtifactFolder } from '../../support/artifact-folder.ts';
import { DUMP_PREFIX, dump, fillWithSample } from '../../support/filled-graph.ts';
import { SAMPLE_NODES, SAMPLE_RELATIONSHIPS } from '../../support/graph-samples.ts';

/** @param openEmpty returns an empty graph at each call; it may empty the previous one */
export function describeGraphDump(name: string, openEmpty: () => Promise<GraphTarget>): void {
  describe(`A dump of ${name}`, () => {
    test('restores every type of property, label and relationship, and reports no difference', async () => {
      const { artifacts } = await openArtifactFolder();
      const source = await fillWithSample(await openEmpty());
      const manifest = await dump(source, artifacts);
      const target = await openEmpty();
      const report = await restoreGraph({ artifacts, prefix: DUMP_PREFIX, target, batchSize: 3 });
      expect(report).toEqual({ manifest, differences: [] });
    });

    test('counts its nodes and relationships', async () => {
      const { artifacts } = await openArtifactFolder();
      const manifest = await dump(await fillWithSample(await openEmpty()), artifacts);
      const size = { nodes: SAMPLE_NODES.length, relationships: SAMPLE_RELATIONSHIPS.length };
      expect(manifest).toMatchObject({ before: { size }, contents: size });
      expect(await verifyDump(artifacts, DUMP_PREFIX)).toEqual(manifest);
    });

    test('can be empty', async () => {
      const { artifacts } = await openArtifactFolder();
      const manifest = await dump(await openEmpty(), artifacts);
      expect(manifest.contents).toMatchObject({ nodes: 0, relationships: 0 });
      const { differences } = await restoreGraph({
        artifacts,
        prefix: DUMP_PREFIX,
        target: await openEmpty(),
      });
      expect(differences).toEqual([]);
    });

    test('is refused if the graph changes during the dump', async () => {
      const { artifacts } = await openArtifactFolder();
      const source = await fillWithSample(await openEmpty());
      const changing = { ...source, streamNodes: () => writeWhileRead(source) };
      await expect(dump(changing, artifacts)).rejects.toThrow(
        expect.objectContaining({ name: 'RefusedNotFrozen' }),
      );
      await expect(verifyDump(artifacts, DUMP_PREFIX)).rejects.toThrow(
        expect.objectContaining({ name: 'RefusedMissingArtifact' }),
      );
    });
  });
}

// Changes only the schema, which no count would show.
async function* writeWhileRead(graph: GraphTarget) {
  yield* graph.streamNodes();
  const statement = 'CREATE RANGE INDEX `late` FOR (n:`city`) ON (n.`name`)';
  await graph.createSchema([{ name: 'late', type: 'RANGE', statement }]);
}
