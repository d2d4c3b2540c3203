// A memory service over real mem0 and real Qdrant with all that a migration of it needs, and a writer that never stops.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { createQdrant } from '../../lib/migration/adapters/qdrant.ts';
import { testUserOf } from '../../lib/migration/ports/memory-backend.ts';
import type { VectorStore } from '../../lib/migration/ports/vector-store.ts';
import { mem0Hooks, startMem0Service } from '../../local/real-mem0/service.ts';
import { seedMemories } from '../../local/sandbox/readable-memories.ts';
import { startWebhook } from '../../local/sandbox/webhook.ts';
import { Mem0RefusalError, type Mem0User, mem0User } from './real-services.ts';
import { createTestTable } from './test-table.ts';

const DIMENSIONS = 32;
const TEST_KEY = 'key-of-the-test-user';

export interface Memory {
  readonly user: string;
  readonly text: string;
}

/** By id. */
export type Memories = ReadonlyMap<string, Memory>;

export interface BusyService {
  readonly url: string;
  readonly runId: string;
  readonly source: string;
  readonly target: string;
  readonly users: readonly Mem0User[];
  /** What the command line is given. */
  readonly environment: NodeJS.ProcessEnv;
  memoriesIn(collection: string): Promise<Memories>;
  close(): Promise<void>;
}

/** On mem0 1.x, with that many memories. */
export async function startBusyService(options: {
  readonly qdrantUrl: string;
  readonly memories: number;
}): Promise<BusyService> {
  const runId = `busy-${randomBytes(4).toString('hex')}`;
  const source = `memories_${runId}`;
  const target = `${source}_v3_${runId}`;
  const qdrant = { url: options.qdrantUrl };
  const store = createQdrant(qdrant);
  const users = ['user-0', 'user-1', 'user-2'].map(mem0User);
  const keys = Object.assign({ [TEST_KEY]: testUserOf(runId) }, ...users.map(({ keys }) => keys));
  const service = await startMem0Service({ qdrant, dimensions: DIMENSIONS, users: keys });
  const preview = await startMem0Service({ qdrant, dimensions: DIMENSIONS, users: keys });
  await service.deploy(1, source);
  await preview.deploy(2, target);
  // mem0 makes its collection with the first request.
  await users[0]?.count(service.url);
  await seedMemories(store, {
    ...{ collection: source, users: 10, memories: options.memories },
    ...{ dimensions: DIMENSIONS, seed: 1 },
  });
  const webhook = await startWebhook(mem0Hooks(service));
  const folder = await mkdtemp(join(tmpdir(), 'busy-service-'));
  const setting = join(folder, 'collection');
  await writeFile(setting, source);
  const { tableName, endpoint } = await createTestTable();

  return {
    url: service.url,
    ...{ runId, source, target, users },
    environment: {
      PATH: process.env.PATH,
      QDRANT_URL: options.qdrantUrl,
      MEMORY_BACKEND_URL: service.url,
      MEMORY_PREVIEW_URL: preview.url,
      MEMORY_BACKEND_KEY: TEST_KEY,
      COLLECTION_SETTING: pathToFileURL(setting).href,
      ARTIFACTS_URL: pathToFileURL(join(folder, 'artifacts')).href,
      MIGRATION_WEBHOOK_URL: webhook.url,
      TABLE_NAME: tableName,
      DYNAMODB_ENDPOINT: endpoint,
    },
    memoriesIn: (collection) => memoriesIn(store, collection),
    async close() {
      await webhook.close();
      await preview.close();
      await service.close();
      const names = (await store.listCollections()).filter((name) => name.includes(runId));
      for (const name of names) await store.deleteCollection(name);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function memoriesIn(store: VectorStore, collection: string): Promise<Memories> {
  const { points } = await store.scroll(collection, { limit: 100_000, vector: false });
  return new Map(
    points.map(({ id, payload }) => {
      const { user_id: user, data: text } = JSON.parse(payload);
      return [JSON.parse(id), { user, text }];
    }),
  );
}

export interface Written {
  /** What must be there, byte for byte. */
  readonly expected: Memories;
  /** Deletions that were acknowledged. */
  readonly deleted: ReadonlySet<string>;
  /** Ids and texts of writes whose response was lost: either outcome is right. */
  readonly unknown: ReadonlySet<string>;
  readonly acknowledged: number;
  /** Refused with 503, or not accepted by any server. */
  readonly refused: number;
  /** Answers that no write should get. */
  readonly failures: readonly string[];
}

const PAUSE_MS = 1_000 / 3;

/** Creates, changes and deletes memories in turn, three a second, whether the service answers or not. */
export function startWriter(
  { url, users }: Pick<BusyService, 'url' | 'users'>,
  memories: Memories,
) {
  const expected = new Map(memories);
  const [deleted, unknown] = [new Set<string>(), new Set<string>()];
  const failures: string[] = [];
  let [acknowledged, refused, count] = [0, 0, 0];
  const writing = new Set<Promise<void>>();
  const own = (user: Mem0User) => [...expected].filter(([, memory]) => memory.user === user.userId);
  const inUse = new Set<string>();

  /** The one of the user's memories that was not written to for the longest time. */
  function oldestOf(user: Mem0User): string | undefined {
    return own(user).find(([id]) => !inUse.has(id))?.[0];
  }

  async function create(user: Mem0User, text: string): Promise<void> {
    const id = await user.add(url, text);
    expected.set(id, { user: user.userId, text });
  }

  async function change(user: Mem0User, id: string, text: string): Promise<void> {
    await user.change(url, id, text);
    expected.delete(id);
    expected.set(id, { user: user.userId, text });
  }

  async function remove(user: Mem0User, id: string): Promise<void> {
    await user.remove(url, id);
    expected.delete(id);
    deleted.add(id);
  }

  async function write(n: number): Promise<void> {
    const user = users[Math.floor(n / 3) % users.length];
    const id = user && n % 3 > 0 ? oldestOf(user) : undefined;
    const text = `Fact ${n} about the rowing club`;
    if (!user || (n % 3 > 0 && id === undefined)) return;
    if (id) inUse.add(id);
    try {
      if (id === undefined) await create(user, text);
      else await (n % 3 === 1 ? change(user, id, text) : remove(user, id));
      acknowledged += 1;
    } catch (error) {
      if (isRefused(error)) refused += 1;
      else {
        if (error instanceof Mem0RefusalError) failures.push(error.message);
        unknown.add(text);
        if (id) {
          unknown.add(id);
          expected.delete(id);
        }
      }
    } finally {
      if (id) inUse.delete(id);
    }
  }

  const timer = setInterval(() => {
    const one = write(count).finally(() => writing.delete(one));
    writing.add(one);
    count += 1;
  }, PAUSE_MS);

  return {
    /** Waits for that many more. */
    async acknowledged(more: number): Promise<void> {
      const goal = acknowledged + more;
      while (acknowledged < goal) await pause(PAUSE_MS);
    },
    async stop(): Promise<Written> {
      clearInterval(timer);
      await Promise.all(writing);
      return { expected, deleted, unknown, acknowledged, refused, failures };
    },
  };
}

// Under maintenance, or nobody listened: the write has not begun.
function isRefused(error: unknown): boolean {
  if (error instanceof Mem0RefusalError) return error.status === 503;
  const { cause } = error as { readonly cause?: { readonly code?: string } };
  return cause?.code === 'ECONNREFUSED';
}

/** Every acknowledged write that a collection does not show, and what it has beside them. */
export function lossesIn(memories: Memories, written: Written, testUser: string): string[] {
  const { expected, deleted, unknown } = written;
  const lost = [...expected].flatMap(([id, { text }]) => {
    const found = memories.get(id)?.text;
    return found === text ? [] : [`${id} should say "${text}", not "${found}"`];
  });
  const returned = [...deleted].filter((id) => memories.has(id)).map((id) => `${id} is deleted`);
  const strange = [...memories].flatMap(([id, { user, text }]) => {
    const isKnown = expected.has(id) || deleted.has(id) || unknown.has(id) || unknown.has(text);
    return isKnown || user === testUser ? [] : [`${id} was never written: "${text}"`];
  });
  return [...lost, ...returned, ...strange];
}
