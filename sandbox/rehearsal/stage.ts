// Sets the stage for one act: its own collection and table, and services made from the rehearsal's parts.
import { randomUUID } from 'node:crypto';
import { createRunRecords } from '../../lib/migration/runs/run-store.ts';
import type { Services } from '../../lib/migration/services.ts';
import { createDocumentClient } from '../../lib/shared/document-client.ts';
import { ensureTable } from '../../local/create-table.ts';
import { startWorldOn, type World, type WorldOptions } from '../world.ts';
import { type Memories, readMemories } from './memories.ts';
import type { Parts } from './parts.ts';

// Each snapshot part is an entry in the checkpoint: many small parts of a large snapshot would exceed the checkpoint's size
// limit.
const SNAPSHOT_PART_BYTES = 16 * 1024 * 1024;

export interface Stage {
  readonly parts: Parts;
  readonly source: string;
  readonly target: string;
  /** Name under which the new collection is uploaded, in an act that uploads it. */
  readonly uploadAs: string;
  readonly world: World;
  readonly services: Services;
  /** Contents of the old collection before the act begins. */
  readonly initialMemories: Memories;
  /**
   * Environment variables that tell another process where the same services are. The hooks and the sandbox's graph are missing,
   * because only this process can reach them.
   */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export async function setStage(
  parts: Parts,
  act: { readonly number: number; readonly clock: () => Date },
  options: Partial<WorldOptions>,
): Promise<Stage> {
  const { runId, store, backend, graph, database } = parts;
  const tableName = await createRunTable(database);
  const client = createDocumentClient(database);
  const records = createRunRecords({ client, tableName, clock: act.clock });
  const source = store.nameSource(act.number);
  const address = { url: store.faultProxy.url, apiKey: store.apiKey };
  const size = backend ? { dimensions: backend.dimensions } : {};
  const world = await startWorldOn(address, {
    runId,
    source,
    records,
    snapshotPartBytes: SNAPSHOT_PART_BYTES,
    ...size,
    ...options,
  });
  parts.resources.onStop(world.close);
  await backend?.workOn(act.number, source);
  return {
    parts,
    source,
    target: `${source}_v3_${runId}`,
    uploadAs: `${source}_uploaded`,
    world,
    services: {
      ...world.services,
      ...(graph ? { graph } : {}),
      ...backend?.services(act.number),
    },
    initialMemories: await readMemories(store.vectors, source),
    environment: {
      ...(backend
        ? storeVariables(world)
        : { MEMORY_BACKEND_KEY_PARAMETER: '', ...world.environment }),
      QDRANT_API_KEY_PARAMETER: '',
      ...(graph ? {} : { NEO4J_URL: '' }),
      DYNAMODB_ENDPOINT: database,
      TABLE_NAME: tableName,
    },
    async close() {
      await backend?.restore();
      await world.close();
      await store.clear(await backend?.readCollection());
    },
  };
}

async function createRunTable(endpoint: string): Promise<string> {
  const name = `rehearsal-${randomUUID()}`;
  await ensureTable(endpoint, name);
  return name;
}

// With a real backend, all other variables come from the environment of this process.
function storeVariables({ environment }: World): Record<string, string> {
  const { QDRANT_URL = '', QDRANT_API_KEY = '', ARTIFACTS_URL = '' } = environment;
  return { QDRANT_URL, QDRANT_API_KEY, ARTIFACTS_URL };
}
