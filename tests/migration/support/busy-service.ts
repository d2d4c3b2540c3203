// A memory service over real mem0 and real Qdrant with all that a migration of it needs: users who write all the time, an
// operator who gives commands in processes of their own, and a webhook on whose actions accidents wait.
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import { expect } from 'vitest';
import { createQdrant } from '../../../lib/migration/adapters/qdrant.ts';
import type { HookAction, HookRequest } from '../../../lib/migration/ports/hooks.ts';
import { testUserOf } from '../../../lib/migration/runs/run-names.ts';
import { createRunning, type Running } from '../../../processes/running.ts';
import { seedMemories } from '../../../sandbox/readable-memories.ts';
import type { Mem0Major } from '../../../sandbox/real/mem0/environments.ts';
import { mem0Hooks, startMem0Service } from '../../../sandbox/real/mem0/service.ts';
import { startQdrant } from '../../../sandbox/real/qdrant-server.ts';
import { startWebhook } from '../../../sandbox/webhook.ts';
import { type Ended, runCommand } from '../../shared/support/command.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { type Ledger, type Memories, startBusyUsers } from './busy-users.ts';
import { hasQdrantProgram, mem0User, REAL_QDRANT } from './real-services.ts';

const DIMENSIONS = 32;
const USERS = 10;
const MEMORIES = 300;
/** On each version that users are let into. */
const WRITES = 20;
const TEST_KEY = 'key-of-the-test-user';
/** No request takes longer than the drain. */
const PLAN = ['--accept', 'no-graph', '--drain-seconds', '5', '--free-gb', '1'];
/** Users delete more than 1 % of so few memories. */
const DELETES = ['--deletes', '1000'];
const COMMAND_MS = 300_000;
const MAX_REPEATS = 4;

export interface Scenario {
  readonly title: string;
  readonly perSecond?: number;
  readonly isInPlace?: boolean;
  /** Version of mem0 that users are on at first: 1 by default */
  readonly old?: Mem0Major;
  /** The store is damaged: users get other answers than a refusal meanwhile. */
  readonly breaksStore?: boolean;
  /** Needs a Qdrant of its own, not one that others use as well. */
  readonly harmsQdrant?: boolean;
  readonly play: (service: BusyService) => Promise<void>;
  /** Called after the last write */
  readonly afterwards?: (service: BusyService) => Promise<void>;
}

/** Replaces an action of the webhook. */
type Accident = (carryOut: () => Promise<void>, request: HookRequest) => Promise<void>;

export type BusyService = Awaited<ReturnType<typeof startBusyService>>;

/** Users write from the beginning to the end, and nothing that was acknowledged to them is lost, doubled or stale. */
export async function play(scenario: Scenario): Promise<void> {
  const running = createRunning();
  try {
    const service = await startBusyService(running, scenario);
    const { users, usersWrite } = service;
    await usersWrite();
    await scenario.play(service);
    await usersWrite();
    await users.stop();
    await service.expectNoFault();
    if (!scenario.breaksStore) expect(users.failures()).toEqual([]);
    await scenario.afterwards?.(service);
    console.info(`${scenario.title}: ${users.summary()}, 0 lost, 0 doubled, 0 stale`);
  } finally {
    await running.stop();
  }
}

async function startBusyService(running: Running, options: Scenario) {
  const { perSecond = 5, isInPlace = false, old = 1 } = options;
  // Two preflights at a time use the same name on one store.
  const server = hasQdrantProgram ? await startQdrant(running) : undefined;
  const qdrant = { url: server?.url ?? REAL_QDRANT ?? '' };
  const runId = `busy-${randomBytes(4).toString('hex')}`;
  const source = `memories_${runId}`;
  const target = `${source}_${isInPlace ? 'preview' : 'v3'}_${runId}`;
  const store = createQdrant(qdrant);
  running.whenStopping(async () => {
    if (server) return;
    const names = (await store.listCollections()).filter((name) => name.includes(runId));
    for (const name of names) await store.deleteCollection(name);
  });
  const people = Array.from({ length: USERS }, (_, n) => mem0User(`user-${n}`));
  const keys = Object.assign({ [TEST_KEY]: testUserOf(runId) }, ...people.map(({ keys }) => keys));
  const start = async () => {
    const started = await startMem0Service({ qdrant, dimensions: DIMENSIONS, users: keys });
    running.whenStopping(started.close);
    return started;
  };
  const [mem0, preview] = [await start(), await start()];
  const { url } = mem0;
  await mem0.deploy(1, source);
  await preview.deploy(2, target);
  // mem0 makes its collection with the first request.
  await people[0]?.count(url);
  if (old === 2) await mem0.deploy(2, source);
  const size = { users: USERS, memories: MEMORIES, dimensions: DIMENSIONS };
  await seedMemories(store, { collection: source, ...size, seed: 1 });

  async function find(): Promise<Memories> {
    const lists = people.map(async (user) =>
      [...(await user.list(url))].map(([id, text]) => [id, { user: user.userId, text }] as const),
    );
    return new Map((await Promise.all(lists)).flat());
  }

  const memories = await find();
  expect(memories.size).toBe(MEMORIES);
  const users = startBusyUsers({ url, users: people, memories, perSecond, find });
  running.whenStopping(users.stop);

  const hooks = mem0Hooks(mem0, old);
  const accidents = new Map<HookAction, Accident[]>();
  const askedAt: number[] = [];
  let atCutover: Ledger = users.ledger();
  let last: Promise<unknown> = Promise.resolve();

  async function act(request: HookRequest): Promise<'done'> {
    const carryOut = async () => void (await hooks.ask(request));
    // Writes are frozen.
    if (request.action === 'deploy-new') atCutover = users.ledger();
    if (request.action !== 'check') askedAt.push(Date.now());
    const accident = accidents.get(request.action)?.shift();
    await (accident ? accident(carryOut, request) : carryOut());
    return 'done';
  }

  // A command that was killed has asked for something, and is repeated while that is done.
  const ask = (request: HookRequest) => {
    const done = last.catch(() => undefined).then(() => act(request));
    last = done;
    return done;
  };
  const webhook = await startWebhook({ ask });
  running.whenStopping(webhook.close);
  const folder = await running.temporaryFolder('busy-service-');
  const setting = join(folder, 'collection');
  await writeFile(setting, source);
  const { tableName, endpoint } = await createTestTable();
  const environment = {
    QDRANT_URL: qdrant.url,
    MEMORY_BACKEND_URL: url,
    MEMORY_PREVIEW_URL: preview.url,
    MEMORY_BACKEND_KEY: TEST_KEY,
    COLLECTION_SETTING: pathToFileURL(setting).href,
    ARTIFACTS_URL: pathToFileURL(join(folder, 'artifacts')).href,
    MIGRATION_WEBHOOK_URL: webhook.url,
    TABLE_NAME: tableName,
    DYNAMODB_ENDPOINT: endpoint,
  };

  /** A command as the operator types it. */
  async function give(words: readonly string[], killed?: AbortSignal): Promise<Ended> {
    const ends = [AbortSignal.timeout(COMMAND_MS), ...(killed ? [killed] : [])];
    const typed = [...words, '--run', runId];
    return await runCommand(
      'cli/migration/migrate/migrate.ts',
      typed,
      environment,
      AbortSignal.any(ends),
    );
  }

  async function expectDone(words: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await give(words);
    expect(code, `${stdout}${stderr}`).toBe(0);
    return stdout;
  }

  /** Version of mem0, as the service reports it */
  async function version(): Promise<string> {
    const health = await (await fetch(`${url}/health`)).json();
    return v.parse(v.object({ mem0: v.string() }), health).mem0;
  }

  async function expectVersion(major: Mem0Major): Promise<void> {
    expect(await version()).toMatch(new RegExp(`^${major}\\.`));
  }

  /** Undefined while the run has not begun. */
  async function phaseNow(): Promise<unknown> {
    const { stdout } = await give(['status', '--json']);
    return JSON.parse(stdout).result?.phase;
  }

  async function expectNoFault(): Promise<void> {
    expect(await users.faults()).toEqual({ lost: [], doubled: [], stale: [] });
  }

  const plan = ['run', '--source', source, ...(isInPlace ? ['--in-place'] : []), ...PLAN];
  const run = [...plan, ...DELETES, '--yes'];
  const rollback = (...options: string[]) => ['rollback', '--execute', '--yes', ...options];
  return {
    source,
    target,
    qdrant,
    store,
    server,
    mem0,
    users,
    askedAt,
    version,
    give,
    run,
    rollback,
    expectNoFault,
    /** Collection that the setting names */
    collection: async () => (await readFile(setting, 'utf8')).trim(),
    /** Users are in the new version afterwards. @returns what the command says */
    async migrate(): Promise<string> {
      const stdout = await expectDone(run);
      await expectVersion(2);
      return stdout;
    },
    /** Users are in the old version afterwards. */
    async rollBack(...options: string[]): Promise<void> {
      await expectDone(rollback(...(options.length > 0 ? options : DELETES)));
      await expectVersion(old);
    },
    /** Users stay where they are, and can write. */
    async expectRefused(words: readonly string[], why: RegExp): Promise<void> {
      const { code, stdout, stderr } = await give(words);
      expect(code, `${stdout}${stderr}`).toBe(3);
      expect(stderr).toMatch(why);
      await users.write(WRITES);
    },
    /** Users are in the old version afterwards. */
    async expectFailedWindow(): Promise<void> {
      const { code, stdout, stderr } = await give(run);
      expect(code, `${stdout}${stderr}`).not.toBe(0);
      await expectVersion(old);
    },
    /** Killed at those points, in milliseconds, and repeated until the run has come to that phase. */
    async insist(words: readonly string[], phase: string, kills: readonly number[]): Promise<void> {
      for (const ms of kills) await give(words, AbortSignal.timeout(ms));
      for (let n = 1; (await phaseNow()) !== phase; n += 1) {
        const { stdout, stderr } = await give(words);
        expect(n, `${stdout}${stderr}`).toBeLessThan(MAX_REPEATS);
      }
    },
    /** Some more writes are acknowledged, and no fault is found. */
    async usersWrite(): Promise<void> {
      await users.write(WRITES);
      await expectNoFault();
    },
    /** Happens instead of the action, once. */
    atNext(action: HookAction, accident: Accident): void {
      accidents.set(action, [...(accidents.get(action) ?? []), accident]);
    },
    /** The next return of users is to what they had before the cutover. */
    leavesWritesBehind(): void {
      accidents.set('deploy-old', [
        async (carryOut) => {
          users.returnTo(atCutover);
          await carryOut();
        },
      ]);
    },
  };
}
