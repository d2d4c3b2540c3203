// Checks the services other than the vector store and the memory backend: graph, webhook, collection setting and artifacts.
import { randomInt } from 'node:crypto';
import type { GraphSource } from '../graph/graph-store.ts';
import { writeJson } from '../ports/artifacts.ts';
import { testUserOf } from '../runs/run-names.ts';
import type { Services } from '../services.ts';
import { COLLECTION_NAMES } from './collection-checks.ts';
import { type CheckContext, defineCheck } from './prerequisites.ts';

/** Reads one row of each kind that a dump contains. */
export const GRAPH_STORE = defineCheck({
  name: 'Graph store',
  read: async ({ services: { graph } }: CheckContext<Pick<Services, 'graph'>>) =>
    graph && (await readGraph(graph)),
  detail: (graph) =>
    graph
      ? `version ${graph.version}, ${graph.nodes} nodes, ${graph.relationships} relationships`
      : 'none',
  facts: (graph) => graph,
  rules: [
    {
      why: (graph) => !graph && 'There is no graph store to back up.',
      remedy: 'Name the graph store with NEO4J_URL, or go without its dump: --accept no-graph.',
      accept: ['no-graph'],
    },
    {
      why: (graph) => graph?.nodes === 0 && 'The graph is empty.',
      remedy:
        'Name the database with NEO4J_DATABASE if it is another one, or go on without memories in the graph: --accept empty-graph.',
      accept: ['empty-graph'],
    },
  ],
  unavailableRemedy:
    'Start it, or correct NEO4J_URL; to go without its dump, unset NEO4J_URL and give --accept no-graph.',
});

async function readGraph(graph: GraphSource) {
  const server = await graph.readServer();
  const size = await graph.readSize();
  await graph.readPosition();
  const { length: rules } = await graph.readSchema();
  for (const rows of [graph.streamNodes(), graph.streamRelationships()]) await readFirst(rows);
  return { ...server, ...size, rules };
}

async function readFirst(rows: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of rows) return;
}

export const WEBHOOK = defineCheck({
  name: 'Webhook',
  read: async ({ services: { hooks, clock }, run }: CheckContext) =>
    await hooks.ask({
      action: 'check',
      runId: run.runId,
      occasion: `preflight-${clock().getTime()}`,
      collection: run.plan.sourceCollection,
      testUser: testUserOf(run.runId),
      deadlineAt: undefined,
    }),
  detail: (outcome) => {
    if (outcome === 'asked-of-a-person') return 'none: a person carries out each action';
    return outcome === 'done' ? 'answers' : 'gives a wrong answer';
  },
  rules: [
    {
      why: (outcome) => outcome === 'under-way' && 'It answered 202 to "check".',
      remedy: 'Have it answer {"action": "check"} with 200 or 204, and do nothing.',
    },
  ],
});

export const COLLECTION_SETTING = defineCheck({
  name: 'Collection setting',
  needs: [COLLECTION_NAMES],
  read: async ({ services: { setting }, mayWrite }: CheckContext) => {
    if (mayWrite) await setting.tryWrite();
    else await setting.read();
    return mayWrite;
  },
  detail: (isWritten) => (isWritten ? 'can be written' : 'can be read'),
  rules: [],
});

const RETENTION_PROBE_MS = 60_000;

/** Also tests that artifacts can be protected from deletion, because a window would fail without that. */
export const ARTIFACTS = defineCheck({
  name: 'Artifacts',
  read: async ({ services: { artifacts, clock }, run: { runId }, isBeginning }: CheckContext) => {
    const key = `${runId}/retention-probe-${randomInt(2 ** 47)}.json`;
    // The probe is written only if the run begins, so that a refused plan leaves nothing behind.
    if (isBeginning) {
      await writeJson(artifacts, key, { runId });
      await artifacts.retain(key, new Date(clock().getTime() + RETENTION_PROBE_MS));
    } else await artifacts.find(key);
    return isBeginning;
  },
  detail: (isWritten) => (isWritten ? 'can be written, and kept from deletion' : 'can be reached'),
  rules: [],
});
