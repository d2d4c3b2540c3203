// npm run restore-graph on a real Neo4j, which `npm run test:real` starts.
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { computeFingerprint } from '../../../cli/migration/restore-graph/fingerprint.ts';
import { createSandboxGraph } from '../../../sandbox/graph.ts';
import { runCommand } from '../../shared/support/command.ts';
import { openArtifactFolder } from '../support/artifact-folder.ts';
import { DUMP_PREFIX, dump, fillWithSample } from '../support/filled-graph.ts';
import { useNeo4j } from '../support/neo4j.ts';

const COMMAND = 'cli/migration/restore-graph/restore-graph.ts';
// The tests' server needs no password, but the command requires one.
const { NEO4J_URL, NEO4J_USER = 'neo4j', NEO4J_PASSWORD = 'any' } = process.env;

if (NEO4J_URL) describeRestoreInto(NEO4J_URL);
else test.skip('Neo4j, which `npm run test:real` starts a server for', () => {});

function describeRestoreInto(url: string): void {
  const { openEmpty } = useNeo4j(url);

  async function dumpSample() {
    const { folder, artifacts } = await openArtifactFolder();
    const source = await fillWithSample(createSandboxGraph());
    await dump(source, artifacts);
    const environment = {
      ARTIFACTS_URL: pathToFileURL(folder).href,
      NEO4J_URL: url,
      NEO4J_USER,
      NEO4J_PASSWORD,
    };
    const restore = (...args: string[]) =>
      runCommand(COMMAND, ['--dump', DUMP_PREFIX, ...args], environment);
    return { source, restore };
  }

  describe('a restore by hand', () => {
    test('fills an empty graph from the dump, and finds it complete the next time', async () => {
      const graph = await openEmpty();
      const { source, restore } = await dumpSample();
      const dryRun = await restore();
      expect(dryRun).toMatchObject({ code: 0, stderr: '' });
      expect(dryRun.stdout).toContain('The graph is empty and can be restored into.');
      expect(await graph.readSize()).toEqual({ nodes: 0, relationships: 0 });
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const { code, stdout, stderr } = await restore('--execute', '--json');
        expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
        expect(JSON.parse(stdout)).toMatchObject({ exitCode: 0, differences: [] });
        expect(await computeFingerprint(graph)).toEqual(await computeFingerprint(source));
      }
    });
  });
}
