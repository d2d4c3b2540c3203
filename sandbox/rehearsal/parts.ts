// The parts of a rehearsal: store, graph and backend. Each part is real if an environment variable names it, and a sandbox
// otherwise.
import { randomBytes } from 'node:crypto';
import type { GraphSource } from '../../lib/migration/graph/graph-store.ts';
import { testUserOf } from '../../lib/migration/runs/run-names.ts';
import { startDatabase } from '../../local/engine.ts';
import { useLocalAccess } from '../../local/local-access.ts';
import type { Resources } from '../../processes/resources.ts';
import { openBackend, type RehearsalBackend } from './backend.ts';
import { openRehearsalGraph } from './graph.ts';
import type { RehearseOptions } from './parse-arguments.ts';
import { openStore, type RehearsalStore } from './store.ts';

export interface Parts {
  readonly runId: string;
  /** Address of the embedded database, which keeps the runs. */
  readonly database: string;
  readonly resources: Resources;
  readonly store: RehearsalStore;
  /** Undefined if the rehearsal uses the sandbox's graph. */
  readonly graph: GraphSource | undefined;
  readonly backend: RehearsalBackend | undefined;
}

/** @throws UserError, Refusal or ConfigurationError */
export async function openParts(options: RehearseOptions, resources: Resources): Promise<Parts> {
  const environment = process.env;
  useLocalAccess(environment);
  const runId = options.run ?? (environment.MEMORY_BACKEND_URL ? 'rehearsal' : createRunId());
  const store = await openStore({ environment, runId, resources });
  const { mayRedeploy, readsExisting } = options;
  const backend = await openBackend({ environment, runId, resources, store, mayRedeploy });
  const graph = await openRehearsalGraph({ environment, resources, readsExisting });
  const { endpoint: database } = await startDatabase(resources);
  return { runId, database, resources, store, graph, backend };
}

/** Says which parts are real, for the output. */
export function describeParts({ runId, store, graph, backend }: Parts): string[] {
  const { QDRANT_URL, NEO4J_URL, MEMORY_BACKEND_URL } = process.env;
  return [
    `vector store:   ${store.isReal ? `real, ${hidePassword(QDRANT_URL)}, in the rehearsal's own collections` : 'sandbox'}`,
    `graph:          ${graph ? `real, ${hidePassword(NEO4J_URL)}` : 'sandbox'}`,
    `memory backend: ${backend ? `real, ${hidePassword(MEMORY_BACKEND_URL)}; its key must belong to ${testUserOf(runId)}` : 'sandbox'}`,
  ];
}

function hidePassword(url = ''): string {
  return url.replace(/\/\/[^/]*@/, '//');
}

// Random, so that two rehearsals do not collide. With a real backend the id is fixed instead, because the backend's key must
// belong to the run's test user.
function createRunId(): string {
  return `rehearsal-${randomBytes(3).toString('hex')}`;
}
