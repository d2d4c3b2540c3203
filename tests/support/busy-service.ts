// A memory service over real mem0 and real Qdrant with all that a migration of it needs, and a writer that never stops.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as v from 'valibot';
import { expect, onTestFinished } from 'vitest';
import { createQdrant } from '../../lib/migration/adapters/qdrant.ts';
import { testUserOf } from '../../lib/migration/runs/run-names.ts';
import { seedMemories } from '../../sandbox/readable-memories.ts';
import { mem0Hooks, startMem0Service } from '../../sandbox/real/mem0/service.ts';
import { startWebhook } from '../../sandbox/webhook.ts';
import { BARE_ENVIRONMENT } from './bare-environment.ts';
import { Mem0RefusalError, type Mem0User, mem0User } from './real-services.ts';
import { createTestTable } from './test-table.ts';

const COMMAND = join(import.meta.dirname, '../../cli/migrate/migrate.ts');
const DIMENSIONS = 32;
const USERS = 10;
const TEST_KEY = 'key-of-the-test-user';

export interface Memory {
  readonly user: string;
  readonly text: string | undefined;
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
  /** Of all users, as the version that is deployed shows them. */
  memories(): Promise<Memories>;
  /** Of mem0, as the service says. */
  version(): Promise<string>;
  close(): Promise<void>;
}

/** On mem0 1.x, with that many memories. */
export async function startBusyService(options: {
  readonly qdrantUrl: string;
  readonly memories: number;
  /** Whether the preview is on the collection that a run in place learns from. */
  readonly isInPlace?: boolean;
}): Promise<BusyService> {
  const runId = `busy-${randomBytes(4).toString('hex')}`;
  const source = `memories_${runId}`;
  const target = `${source}_${options.isInPlace ? 'preview' : 'v3'}_${runId}`;
  const qdrant = { url: options.qdrantUrl };
  const store = createQdrant(qdrant);
  const users = Array.from({ length: USERS }, (_, n) => mem0User(`user-${n}`));
  const keys = Object.assign({ [TEST_KEY]: testUserOf(runId) }, ...users.map(({ keys }) => keys));
  const service = await startMem0Service({ qdrant, dimensions: DIMENSIONS, users: keys });
  const preview = await startMem0Service({ qdrant, dimensions: DIMENSIONS, users: keys });
  await service.deploy(1, source);
  await preview.deploy(2, target);
  // mem0 makes its collection with the first request.
  await users[0]?.count(service.url);
  await seedMemories(store, {
    ...{ collection: source, users: USERS, memories: options.memories },
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
      ...BARE_ENVIRONMENT,
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
    memories: () => memoriesOf(users, service.url),
    version: () => versionAt(service.url),
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

async function memoriesOf(users: readonly Mem0User[], url: string): Promise<Memories> {
  const lists = users.map(async (user) =>
    [...(await user.list(url))].map(([id, text]) => [id, { user: user.userId, text }] as const),
  );
  return new Map((await Promise.all(lists)).flat());
}

async function versionAt(url: string): Promise<string> {
  const response = await fetch(`${url}/health`);
  return v.parse(v.object({ mem0: v.string() }), await response.json()).mem0;
}

const KINDS = ['create', 'change', 'delete'] as const;

type Kind = (typeof KINDS)[number];

export interface Written {
  /** What must be there, byte for byte. */
  readonly expected: Memories;
  /** Deletions that were acknowledged. */
  readonly deleted: ReadonlySet<string>;
  /** Ids and texts of writes that have no response, or not yet: either outcome is right. */
  readonly unknown: ReadonlySet<string>;
  readonly acknowledged: Readonly<Record<Kind, number>>;
  /** Refused with 503, or not accepted by any server. */
  readonly refused: number;
  readonly unanswered: number;
  /** Answers that no write should get. */
  readonly failures: readonly string[];
}

export type Writer = ReturnType<typeof startWriter>;

/** Creates, changes and deletes memories in turn, three a second or as many as given, whether the service answers or not. */
export function startWriter(
  { url, users }: Pick<BusyService, 'url' | 'users'>,
  memories: Memories,
  perSecond = 3,
) {
  const pauseMs = 1_000 / perSecond;
  const expected = new Map(memories);
  const [deleted, unknown, inFlight] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const failures: string[] = [];
  const acknowledged = { create: 0, change: 0, delete: 0 };
  let [refused, unanswered, tried] = [0, 0, 0];
  const writing = new Set<Promise<void>>();
  const allAcknowledged = () => KINDS.reduce((sum, kind) => sum + acknowledged[kind], 0);

  /** The one of the user's memories that was not written to for the longest time. */
  function oldestOf({ userId }: Mem0User): string | undefined {
    return [...expected].find(([id, { user }]) => user === userId && !inFlight.has(id))?.[0];
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
    const user = users[Math.floor(n / KINDS.length) % users.length];
    const kind = KINDS[n % KINDS.length] ?? 'create';
    const id = user && kind !== 'create' ? oldestOf(user) : undefined;
    const text = `Fact ${n} about the rowing club`;
    if (!user || (kind !== 'create' && id === undefined)) return;
    const named = id === undefined ? [text] : [id, text];
    for (const name of named) inFlight.add(name);
    try {
      if (id === undefined) await create(user, text);
      else await (kind === 'change' ? change(user, id, text) : remove(user, id));
      acknowledged[kind] += 1;
    } catch (error) {
      if (isRefused(error)) refused += 1;
      else {
        if (error instanceof Mem0RefusalError) failures.push(error.message);
        else unanswered += 1;
        for (const name of named) unknown.add(name);
        if (id) expected.delete(id);
      }
    } finally {
      for (const name of named) inFlight.delete(name);
    }
  }

  const timer = setInterval(() => {
    const one = write(tried).finally(() => writing.delete(one));
    writing.add(one);
    tried += 1;
  }, pauseMs);

  return {
    /** Waits until that many more are acknowledged. */
    async acknowledges(more: number): Promise<void> {
      const goal = allAcknowledged() + more;
      while (allAcknowledged() < goal) await pause(pauseMs);
    },
    written: (): Written => ({
      expected: new Map([...expected].filter(([id]) => !inFlight.has(id))),
      deleted: new Set(deleted),
      unknown: new Set([...unknown, ...inFlight]),
      acknowledged: { ...acknowledged },
      ...{ refused, unanswered, failures: [...failures] },
    }),
    async stop(): Promise<void> {
      clearInterval(timer);
      await Promise.all(writing);
    },
  };
}

// Under maintenance, or nobody listened: the write has not begun.
function isRefused(error: unknown): boolean {
  if (error instanceof Mem0RefusalError) return error.status === 503;
  const { cause } = error as { readonly cause?: { readonly code?: string } };
  return cause?.code === 'ECONNREFUSED';
}

/** Every acknowledged write that users do not find, and what they find beside them; the writer may go on meanwhile. */
export async function findLosses(service: BusyService, writer: Writer): Promise<string[]> {
  const before = writer.written();
  const memories = await service.memories();
  const after = new Set(lossesIn(memories, writer.written()));
  // What was written meanwhile is missing before or after, never in both.
  return lossesIn(memories, before).filter((loss) => after.has(loss));
}

function lossesIn(memories: Memories, { expected, deleted, unknown }: Written): string[] {
  const lost = [...expected].flatMap(([id, { user, text }]) => {
    const found = memories.get(id);
    if (found?.text === text && found?.user === user) return [];
    return [`${id} of ${user} should say "${text}", not "${found?.text}"`];
  });
  const returned = [...deleted].filter((id) => memories.has(id)).map((id) => `${id} is deleted`);
  const strange = [...memories].flatMap(([id, { text = '' }]) => {
    const isKnown = expected.has(id) || deleted.has(id) || unknown.has(id) || unknown.has(text);
    return isKnown ? [] : [`${id} was never written: "${text}"`];
  });
  return [...lost, ...returned, ...strange];
}

export function summaryOf({ acknowledged, refused, unanswered }: Written): string {
  const { create, change, delete: deleted } = acknowledged;
  const all = create + change + deleted;
  const kinds = `${create} created, ${change} changed, ${deleted} deleted`;
  return `${all} writes acknowledged (${kinds}), ${refused} refused, ${unanswered} without an answer`;
}

/** As an operator who expects it to work. */
export async function migrate(service: BusyService, ...words: readonly string[]): Promise<void> {
  const { environment, runId } = service;
  const child = spawn(process.execPath, [COMMAND, ...words, '--run', runId, '--yes'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  expect(code, `${stdout}${stderr}`).toBe(0);
}

export async function collectionOf({ environment }: BusyService): Promise<string> {
  return (await readFile(fileURLToPath(environment.COLLECTION_SETTING ?? ''), 'utf8')).trim();
}
