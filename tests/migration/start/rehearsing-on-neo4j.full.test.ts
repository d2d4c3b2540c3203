// npm run rehearse on a real Neo4j, which `npm run test:real` starts.
import neo4j from 'neo4j-driver';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { rehearse } from '../support/rehearsing.ts';

const { NEO4J_URL, NEO4J_USER = 'neo4j', NEO4J_PASSWORD = '' } = process.env;

if (NEO4J_URL) describeRehearsalOn(NEO4J_URL);
else test.skip('Neo4j, which `npm run test:real` starts a server for', () => {});

function describeRehearsalOn(url: string): void {
  const driver = neo4j.driver(url, neo4j.auth.basic(NEO4J_USER, NEO4J_PASSWORD));
  const environment = { NEO4J_URL: url, NEO4J_USER, NEO4J_PASSWORD };
  const args = ['--memories', '40', '--acts', '1'];

  async function readContents(): Promise<unknown[]> {
    const { records } = await driver.executeQuery('MATCH (n) RETURN labels(n) + keys(n) AS node');
    return records.map((record) => record.get('node'));
  }

  async function addNode(label: string): Promise<void> {
    await driver.executeQuery(`CREATE (:\`${label}\` {of: 'another team'})`);
  }

  async function removeNodes(label: string): Promise<void> {
    await driver.executeQuery(`MATCH (n:\`${label}\`) DELETE n`);
  }

  // A graph with other contents fails the test, which must not delete them.
  beforeEach(async () => {
    expect(await readContents()).toEqual([]);
  });
  afterAll(() => driver.close());

  describe('a real graph', () => {
    test('is filled, dumped exactly and emptied again if it is empty', async () => {
      const { code, stdout, stderr } = await rehearse(args, environment);
      expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(`graph:          real, ${url}`);
      expect(stdout).toContain('graph kept: nodes 2, relationships 2');
      expect(await readContents()).toEqual([]);
    });

    test('is refused if it is not empty, or dumped unchanged if the operator allows that', async () => {
      await addNode('Precious');
      try {
        const refused = await rehearse(args, environment);
        expect({ ...refused }).toMatchObject({
          code: 2,
          stderr: expect.stringMatching(/is not empty \(nodes: 1\).*--existing-graph/),
        });
        const { code, stdout } = await rehearse([...args, '--existing-graph'], environment);
        expect(code, stdout).toBe(0);
        expect(stdout).toContain('graph kept: nodes 1, relationships 0');
        expect(await readContents()).toEqual([['Precious', 'of']]);
      } finally {
        await removeNodes('Precious');
      }
    });

    test('is refused with the name of another rehearsal that uses it', async () => {
      await addNode('Rehearsed_before');
      try {
        const { code, stderr } = await rehearse(args, environment);
        expect({ code, stderr }).toEqual({
          code: 2,
          stderr: expect.stringMatching(/contains nodes of another rehearsal.*`Rehearsed_before`/),
        });
      } finally {
        await removeNodes('Rehearsed_before');
      }
    });
  });
}
