import { test } from 'vitest';
import { useNeo4j } from '../../support/neo4j.ts';
import { describeGraphDump } from './graph-dump.ts';
import { describeGraphStore } from './graph-store.ts';

const { NEO4J_URL } = process.env;

if (NEO4J_URL) describeNeo4j(NEO4J_URL);
else test.skip('Neo4j, which `npm run test:neo4j` starts a server for', () => {});

// In one file, since all share the one graph.
function describeNeo4j(url: string): void {
  const { openEmpty } = useNeo4j(url);
  describeGraphStore('Neo4j', openEmpty);
  describeGraphDump('Neo4j', openEmpty);
}
