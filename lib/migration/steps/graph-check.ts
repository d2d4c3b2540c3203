// Whether the graph lets be read what its dump will need: asked for once, with little taken of each.
import type { GraphServer, GraphSize, GraphSource } from '../graph/graph-store.ts';
import { RetryableFailure } from '../refusals.ts';
import type { Plan } from '../runs/run.ts';
import { translateFailure } from '../runs/translate-failure.ts';
import type { Services } from '../services.ts';
import { type Finding, findingOf } from './preflight-checks.ts';

export interface GraphCheck {
  /** Null where there is no graph, or it cannot be read. */
  readonly seen: (GraphServer & GraphSize & { readonly rules: number }) | null;
  readonly findings: readonly Finding[];
}

export async function checkGraph(
  { graph }: Pick<Services, 'graph'>,
  { accepts }: Plan,
): Promise<GraphCheck> {
  if (!graph) {
    const why = 'There is no graph store to back up.';
    const findings: Finding[] = accepts.includes('no-graph')
      ? []
      : [{ name: 'RefusedNoGraph', why }];
    return { seen: null, findings };
  }
  try {
    return { seen: await look(graph), findings: [] };
  } catch (error) {
    return { seen: null, findings: [obstacleOf(error)] };
  }
}

async function look(graph: GraphSource) {
  const server = await graph.server();
  const size = await graph.size();
  await graph.position();
  const { length: rules } = await graph.schema();
  await readOne(graph.nodes());
  await readOne(graph.relationships());
  return { ...server, ...size, rules };
}

async function readOne(rows: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of rows) return;
}

// An operator is there: what does not answer is told at once, and not tried again behind the operator's back.
function obstacleOf(error: unknown): Finding {
  const failure = translateFailure(error);
  if (!(failure instanceof RetryableFailure)) return findingOf(failure);
  const without = 'To go without it, leave NEO4J_URL out and accept "no-graph".';
  return { name: 'RefusedGraph', why: `${failure.message} ${without}` };
}
