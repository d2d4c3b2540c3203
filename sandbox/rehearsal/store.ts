// The vector store of a rehearsal: a sandbox, or the real store at QDRANT_URL. The rehearsal's collections have their own
// prefix, and no other collection is written or removed.
import { createQdrant, type VectorStore } from '../../lib/migration/adapters/qdrant.ts';
import { DEFAULT_RETRY_POLICY } from '../../lib/shared/retry.ts';
import { firstLine, UserError } from '../../lib/shared/user-error.ts';
import type { Resources } from '../../processes/resources.ts';
import { startQdrantSandbox } from '../qdrant/server.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';

/** Prefix of the collections of every rehearsal, on every store. */
const COLLECTION_PREFIX = 'rehearsed_memories_';
const DRILL_PREFIX = 'restore_drill_rehearsal';

export interface RehearsalStore {
  readonly isReal: boolean;
  readonly apiKey: string | undefined;
  /** Bypasses the fault proxy, for inspections and for the clean-up. */
  readonly vectors: VectorStore;
  readonly faultProxy: FaultProxy;
  /** Name of the collection that an act migrates. */
  nameSource(act: number): string;
  /** Removes the rehearsal's collections and their snapshots, except the active collection. */
  clear(activeCollection?: string): Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws UserError if the store cannot be reached, or an earlier rehearsal left collections in it */
export async function openStore(options: {
  readonly environment: Environment;
  readonly runId: string;
  readonly resources: Resources;
}): Promise<RehearsalStore> {
  const { environment, runId, resources } = options;
  const { QDRANT_URL: realUrl, QDRANT_API_KEY: apiKey } = environment;
  const url = realUrl || (await startSandbox(resources));
  const vectors = createQdrant({ url, apiKey });
  if (realUrl) await assertUsable(realUrl, apiKey);
  const source = `${COLLECTION_PREFIX}${runId}`;
  const drill = `restore_drill_${runId}`;
  const isOwn = (name: string) => name.startsWith(`${source}_`) || name === drill;

  async function clear(activeCollection?: string): Promise<void> {
    for (const name of (await vectors.listCollections()).filter(isOwn)) {
      if (name === activeCollection) continue;
      // Snapshots are deleted first: without their collection they cannot be reached, and would stay on the store's disk.
      for (const snapshot of await vectors.listSnapshots(name)) {
        await vectors.deleteSnapshot(name, snapshot.name);
      }
      await vectors.deleteCollection(name);
    }
  }

  const faultProxy = await startFaultProxy(url);
  resources.onStop(clear);
  // The latest registration stops first, so running requests end before anything is cleared.
  resources.onStop(faultProxy.close);
  return {
    isReal: Boolean(realUrl),
    apiKey,
    vectors,
    faultProxy,
    nameSource: (act) => `${source}_${act}`,
    clear,
  };
}

async function startSandbox(resources: Resources): Promise<string> {
  const sandbox = await startQdrantSandbox();
  resources.onStop(sandbox.close);
  return sandbox.url;
}

async function assertUsable(url: string, apiKey: string | undefined): Promise<void> {
  const pace = { ...DEFAULT_RETRY_POLICY, deadlineMs: 2_000 };
  const store = createQdrant({ url, apiKey, pace, timeoutMs: 5_000 });
  const names = await store.listCollections().catch((cause: unknown) => {
    throw new UserError(`The store at QDRANT_URL cannot be used: ${firstLine(cause)}`, { cause });
  });
  const leftovers = names.filter(
    (name) => name.startsWith(COLLECTION_PREFIX) || name.startsWith(DRILL_PREFIX),
  );
  if (leftovers.length === 0) return;
  throw new UserError(
    `The store at QDRANT_URL has collections of another rehearsal: ${leftovers.join(', ')}; ` +
      'let it finish, or, if it was killed, delete them (DELETE /collections/NAME)',
  );
}
