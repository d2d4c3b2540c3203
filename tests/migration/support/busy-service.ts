// A memory service over real mem0 and real Qdrant, with everything that migrating the service needs: users who write all
// the time, an operator whose commands each run in a process, and a webhook whose actions a test can replace with accidents.
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import { expect } from 'vitest';
import { createQdrant } from '../../../lib/migration/adapters/qdrant.ts';
import type { HookAction, HookRequest } from '../../../lib/migration/ports/hooks.ts';
import { testUserOf } from '../../../lib/migration/runs/run-names.ts';
import { createResources, type Resources } from '../../../processes/resources.ts';
import { seedMemories } from '../../../sandbox/readable-memories.ts';
import type { Mem0Major } from '../../../sandbox/real/mem0/environments.ts';
import { createMem0Hooks, startMem0Service } from '../../../sandbox/real/mem0/service.ts';
import { startQdrant } from '../../../sandbox/real/qdrant-server.ts';
import { startWebhook } from '../../../sandbox/webhook.ts';
import { type CommandResult, runCommand } from '../../shared/support/command.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { type Ledger, type Memories, startBusyUsers } from './busy-users.ts';
import { createMem0User, hasQdrantProgram, REAL_QDRANT } from './real-services.ts';

const DIMENSIONS = 32;
const USERS = 10;
const MEMORIES = 300;
/** Number of writes awaited each time that users must be able to write */
const AWAITED_WRITES = 20;
const TEST_KEY = 'key-of-the-test-user';
/** The drain is short, because no request takes longer. */
const PLAN_ARGS = ['--accept', 'no-graph', '--drain-seconds', '5', '--free-gb', '1'];
/** Permits 1,000 deletions: users delete a larger share of so few memories than is allowed without permission. */
const DELETES_ARGS = ['--deletes', '1000'];
const COMMAND_TIMEOUT_MS = 900_000;
const MAX_REPEATS = 4;

export interface Scenario {
  readonly title: string;
  readonly writesPerSecond?: number;
  readonly isInPlace?: boolean;
  /** Version of mem0 that users are on at first: 1 by default */
  readonly old?: Mem0Major;
  /** True if the play damages the store, so that users get errors other than refusals */
  readonly breaksStore?: boolean;
  /** True if the play harms the whole Qdrant, which other tests must not share */
  readonly harmsQdrant?: boolean;
  readonly play: (service: BusyService) => Promise<void>;
  /** Called after the last write */
  readonly afterwards?: (service: BusyService) => Promise<void>;
}

/** Replaces an action of the webhook. */
type Accident = (carryOut: () => Promise<void>, request: HookRequest) => Promise<void>;

export type BusyService = Awaited<ReturnType<typeof startBusyService>>;

/** Plays a scenario while users write throughout, and expects no acknowledged write to be lost, doubled or stale. */
export async function play(scenario: Scenario): Promise<void> {
  const resources = createResources();
  try {
    const service = await startBusyService(resources, scenario);
    const { users, expectUsersWrite } = service;
    await expectUsersWrite();
    await scenario.play(service);
    await expectUsersWrite();
    await users.stop();
    await service.expectNoFault();
    if (!scenario.breaksStore) expect(users.failures()).toEqual([]);
    await scenario.afterwards?.(service);
    console.info(`${scenario.title}: ${users.summary()}, 0 lost, 0 doubled, 0 stale`);
  } finally {
    await resources.stop();
  }
}

async function startBusyService(resources: Resources, options: Scenario) {
  const { writesPerSecond = 5, isInPlace = false, old = 1 } = options;
  // Each service starts its own Qdrant where possible: two preflights at once would use the same name on one store.
  const server = hasQdrantProgram ? await startQdrant(resources) : undefined;
  const qdrant = { url: server?.url ?? REAL_QDRANT ?? '' };
  const runId = `busy-${randomBytes(4).toString('hex')}`;
  const source = `memories_${runId}`;
  const target = `${source}_${isInPlace ? 'preview' : 'v3'}_${runId}`;
  const store = createQdrant(qdrant);
  resources.onStop(async () => {
    if (server) return;
    const names = (await store.listCollections()).filter((name) => name.includes(runId));
    for (const name of names) await store.deleteCollection(name);
  });
  const mem0Users = Array.from({ length: USERS }, (_, n) => createMem0User(`user-${n}`));
  const keys = Object.assign(
    { [TEST_KEY]: testUserOf(runId) },
    ...mem0Users.map(({ keys }) => keys),
  );
  const startMem0 = async () => {
    const started = await startMem0Service({ qdrant, dimensions: DIMENSIONS, users: keys });
    resources.onStop(started.close);
    return started;
  };
  const [mem0, preview] = [await startMem0(), await startMem0()];
  const { url } = mem0;
  await mem0.deploy(1, source);
  await preview.deploy(2, target);
  // mem0 creates its collection at the first request.
  await mem0Users[0]?.count(url);
  if (old === 2) await mem0.deploy(2, source);
  const size = { users: USERS, memories: MEMORIES, dimensions: DIMENSIONS };
  await seedMemories(store, { collection: source, ...size, seed: 1 });

  async function findMemories(): Promise<Memories> {
    const lists = mem0Users.map(async (user) =>
      [...(await user.list(url))].map(([id, text]) => [id, { user: user.userId, text }] as const),
    );
    return new Map((await Promise.all(lists)).flat());
  }

  const memories = await findMemories();
  expect(memories.size).toBe(MEMORIES);
  const users = startBusyUsers({ url, users: mem0Users, memories, writesPerSecond, findMemories });
  resources.onStop(users.stop);

  const hooks = createMem0Hooks(mem0, old);
  const accidents = new Map<HookAction, Accident[]>();
  const actionTimes: number[] = [];
  let ledgerAtCutover: Ledger = users.ledger();
  let lastAction: Promise<unknown> = Promise.resolve();

  async function performAction(request: HookRequest): Promise<'done'> {
    const carryOut = async () => void (await hooks.ask(request));
    // Writes are frozen at this point, so the ledger is complete.
    if (request.action === 'deploy-new') ledgerAtCutover = users.ledger();
    if (request.action !== 'check') actionTimes.push(Date.now());
    const accident = accidents.get(request.action)?.shift();
    await (accident ? accident(carryOut, request) : carryOut());
    return 'done';
  }

  // An action that a killed command requested may still run when the command is repeated, so actions run one after another.
  const ask = (request: HookRequest) => {
    const done = lastAction.catch(() => undefined).then(() => performAction(request));
    lastAction = done;
    return done;
  };
  const webhook = await startWebhook({ ask });
  resources.onStop(webhook.close);
  const folder = await resources.createTemporaryFolder('busy-service-');
  const settingFile = join(folder, 'collection');
  await writeFile(settingFile, source);
  const { tableName, endpoint } = await createTestTable();
  const environment = {
    QDRANT_URL: qdrant.url,
    MEMORY_BACKEND_URL: url,
    MEMORY_PREVIEW_URL: preview.url,
    MEMORY_BACKEND_KEY: TEST_KEY,
    COLLECTION_SETTING: pathToFileURL(settingFile).href,
    ARTIFACTS_URL: pathToFileURL(join(folder, 'artifacts')).href,
    MIGRATION_WEBHOOK_URL: webhook.url,
    TABLE_NAME: tableName,
    DYNAMODB_ENDPOINT: endpoint,
  };

  /** Runs a command as the operator types it. */
  async function execute(typedArgs: readonly string[], kill?: AbortSignal): Promise<CommandResult> {
    const signals = [AbortSignal.timeout(COMMAND_TIMEOUT_MS), ...(kill ? [kill] : [])];
    const args = [...typedArgs, '--run', runId];
    return await runCommand(
      'cli/migration/migrate/migrate.ts',
      args,
      environment,
      AbortSignal.any(signals),
    );
  }

  async function expectDone(args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await execute(args);
    expect(code, `${stdout}${stderr}`).toBe(0);
    return stdout;
  }

  /** Reads the version of mem0 from the service. */
  async function readVersion(): Promise<string> {
    const health = await (await fetch(`${url}/health`)).json();
    return v.parse(v.object({ mem0: v.string() }), health).mem0;
  }

  async function expectVersion(major: Mem0Major): Promise<void> {
    expect(await readVersion()).toMatch(new RegExp(`^${major}\\.`));
  }

  /** Undefined before the run begins. */
  async function readPhase(): Promise<unknown> {
    const { stdout } = await execute(['status', '--json']);
    return JSON.parse(stdout).result?.phase;
  }

  async function expectNoFault(): Promise<void> {
    expect(await users.faults()).toEqual({ lost: [], doubled: [], stale: [] });
  }

  const plan = ['run', '--source', source, ...(isInPlace ? ['--in-place'] : []), ...PLAN_ARGS];
  const runArgs = [...plan, ...DELETES_ARGS, '--yes'];
  const rollbackArgs = (...options: string[]) => ['rollback', '--execute', '--yes', ...options];
  return {
    source,
    target,
    qdrant,
    store,
    server,
    mem0,
    users,
    actionTimes,
    readVersion,
    execute,
    runArgs,
    rollbackArgs,
    expectNoFault,
    /** Reads the collection that the setting names. */
    readCollection: async () => (await readFile(settingFile, 'utf8')).trim(),
    /** Migrates users to the new version. @returns the output of the command */
    async migrate(): Promise<string> {
      const stdout = await expectDone(runArgs);
      await expectVersion(2);
      return stdout;
    },
    /** Rolls users back to the old version. */
    async rollBack(...options: string[]): Promise<void> {
      await expectDone(rollbackArgs(...(options.length > 0 ? options : DELETES_ARGS)));
      await expectVersion(old);
    },
    /** Expects a refusal, after which users can still write. */
    async expectRefused(args: readonly string[], why: RegExp): Promise<void> {
      const { code, stdout, stderr } = await execute(args);
      expect(code, `${stdout}${stderr}`).toBe(3);
      expect(stderr).toMatch(why);
      await users.awaitWrites(AWAITED_WRITES);
    },
    /** Expects a run to fail and to leave users on the old version. */
    async expectFailedWindow(): Promise<void> {
      const { code, stdout, stderr } = await execute(runArgs);
      expect(code, `${stdout}${stderr}`).not.toBe(0);
      await expectVersion(old);
    },
    /**
     * Kills the command once at each of the given times, then repeats it until the run has reached the phase.
     * @param kills milliseconds from the start of the command
     */
    async repeatUntilPhase(
      args: readonly string[],
      phase: string,
      kills: readonly number[],
    ): Promise<void> {
      for (const ms of kills) await execute(args, AbortSignal.timeout(ms));
      for (let n = 1; (await readPhase()) !== phase; n += 1) {
        const { stdout, stderr } = await execute(args);
        expect(n, `${stdout}${stderr}`).toBeLessThan(MAX_REPEATS);
      }
    },
    /** Expects that users' next writes are acknowledged, and that there is no fault. */
    async expectUsersWrite(): Promise<void> {
      await users.awaitWrites(AWAITED_WRITES);
      await expectNoFault();
    },
    /** Replaces the next occurrence of the action with an accident. */
    replaceNext(action: HookAction, accident: Accident): void {
      accidents.set(action, [...(accidents.get(action) ?? []), accident]);
    },
    /** Expects the next rollback to leave behind users' writes since the cutover. */
    leaveWritesBehind(): void {
      accidents.set('deploy-old', [
        async (carryOut) => {
          users.revertTo(ledgerAtCutover);
          await carryOut();
        },
      ]);
    },
  };
}
