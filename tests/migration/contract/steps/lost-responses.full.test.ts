// A whole migration and its rollback, in which the first response to every change is lost: from the stores, the backend, the setting
// and the artifacts. The run succeeds anyway, and repeats no change that must be made only once.
import { expect, test } from 'vitest';
import { createHttpMemoryBackend } from '../../../../lib/migration/adapters/http-memory-backend.ts';
import { createQdrant } from '../../../../lib/migration/adapters/qdrant.ts';
import { createSecret } from '../../../../lib/migration/adapters/secrets.ts';
import { RetryableFailure } from '../../../../lib/migration/refusals.ts';
import type { Services } from '../../../../lib/migration/services.ts';
import { startNewVersion } from '../../../../sandbox/memory-backend/new-version.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { computeFingerprint } from '../../support/collections.ts';
import { startLosingProxy } from '../../support/losing-proxy.ts';
import { createMigration, type Migration, RUN, type StepName } from '../../support/migration.ts';

const CHANGES: readonly (readonly [string, RegExp])[] = [
  ['snapshot', /^POST .*\/snapshots\?/],
  ['restore', /^POST .*\/snapshots\/upload/],
  ['collection', /^PUT \/collections\/[^/]+\?/],
  ['other', /^DELETE |^PUT |^POST .*\/points\/delete/],
];

/** Kinds of changes that must be made only once, because a second request would create a second copy */
const ONCE = ['snapshot', 'restore', 'collection'];

const classifyStoreCall = (request: string) =>
  CHANGES.find(([, pattern]) => pattern.test(request))?.[0];

const classifyBackendCall = (request: string) =>
  /^POST \/(memories|chat)$/.test(request) ? 'write' : undefined;

const KEY = 'key-of-the-test-user';

/** Returns the services of the migration over connections that lose the first response to each change. */
async function connectServices(migration: Migration, losesResponses: boolean) {
  const { qdrant, backend, services } = migration;
  const store = await startLosingProxy(qdrant.url, classifyStoreCall, { losesResponses });
  const backendProxy = await startLosingProxy(backend.url, classifyBackendCall, { losesResponses });
  let lostElsewhere = 0;
  const lostChanges = new Set<string>();

  /** Makes the change, and loses its response. */
  function loseFirstResponse<Args extends unknown[], Result>(
    name: string,
    method: (...args: Args) => Promise<Result>,
  ): (...args: Args) => Promise<Result> {
    return async (...args) => {
      const result = await method(...args);
      // Digits are masked, because a repeated step uses keys with the epoch of its own lease.
      const key = `${name} ${JSON.stringify(args[0]).replace(/\d+/g, '#')}`;
      if (!losesResponses || lostChanges.has(key)) return result;
      lostChanges.add(key);
      lostElsewhere += 1;
      throw new RetryableFailure('RetryableUnavailable', `The response to ${name} is lost.`);
    };
  }

  const { artifacts, setting, hooks } = services;
  const connected: Services = {
    ...services,
    vectors: createQdrant({ url: store.url }),
    backend: createHttpMemoryBackend({
      url: backendProxy.url,
      apiKey: createSecret(KEY),
      timeoutMs: 10_000,
    }),
    artifacts: {
      ...artifacts,
      retain: loseFirstResponse('retain', artifacts.retain),
      delete: loseFirstResponse('delete', artifacts.delete),
    },
    setting: { ...setting, change: loseFirstResponse('change', setting.change) },
    hooks: { ask: loseFirstResponse('ask', hooks.ask) },
  };
  return { connected, store, lost: () => store.lost() + backendProxy.lost() + lostElsewhere };
}

const RUNBOOK: readonly StepName[] = ['backup', 'rebuild', 'copy'];

/** Repeats a step while its failures are transient, as the state machine does. */
async function follow(migration: Migration, step: StepName, connected: Services): Promise<void> {
  for (;;) {
    try {
      await migration.finish(step, {}, connected);
      return;
    } catch (error) {
      if (!(error instanceof RetryableFailure)) throw error;
      migration.advanceClock(5_000);
    }
  }
}

interface Route {
  readonly plan: { readonly uploadAs: string } | { readonly inPlace: true };
  /** Collection that users work on after the cutover */
  readonly live: string;
  /** Collections that exist after the rollback */
  readonly remaining: readonly string[];
}

async function migrateAndBack({ plan, live, remaining }: Route, losesResponses: boolean) {
  const isInPlace = 'inPlace' in plan;
  // In place, the new version creates its own collections, out of the migration's reach. By upload, the migration creates them.
  const options = { memories: 20, users: 3, hasPreview: isInPlace, isInPlace };
  const migration = await createMigration(options);
  const { vectors } = migration.services;
  const before = await computeFingerprint(vectors, SOURCE);
  const { connected, store, lost } = await connectServices(migration, losesResponses);
  await migration.start(plan);
  for (const step of RUNBOOK) await follow(migration, step, connected);
  await follow(migration, 'cutover', connected);
  expect((await migration.runs.read(RUN)).phase).toBe('live');
  expect(await computeFingerprint(vectors, live)).toEqual(before);

  const settings = { store: vectors, collection: live, dimensions: 8, now: migration.clock };
  await (await startNewVersion(settings)).add('user-1', 'A new fact');
  const after = await computeFingerprint(vectors, live);
  await follow(migration, 'rollback', connected);
  expect((await migration.runs.read(RUN)).phase).toBe('copied');
  expect(await computeFingerprint(vectors, SOURCE)).toEqual(after);
  expect((await vectors.listCollections()).toSorted()).toEqual(remaining);
  expect(await vectors.listSnapshots(SOURCE)).toEqual([]);
  const once = ONCE.map((kind) => [kind, store.changes.get(kind)]);
  return { once: Object.fromEntries(once), lost: lost() };
}

const UPLOADED: Route = {
  plan: { uploadAs: 'uploaded' },
  live: 'uploaded',
  remaining: [SOURCE, 'uploaded', 'uploaded_entities'],
};

const IN_PLACE: Route = {
  plan: { inPlace: true },
  live: SOURCE,
  remaining: [SOURCE, `${SOURCE}_entities`],
};

test.each([
  ['by upload', UPLOADED],
  ['in place', IN_PLACE],
])(
  'a migration %s and its rollback lose the first response to every change, and do nothing twice',
  async (_, route) => {
    const undisturbed = await migrateAndBack(route, false);
    const lossy = await migrateAndBack(route, true);
    console.log(`Lost ${lossy.lost} responses; done`, JSON.stringify(lossy.once));
    expect(undisturbed.lost).toBe(0);
    expect(lossy.lost).toBeGreaterThan(30);
    expect(lossy.once).toEqual(undisturbed.once);
  },
);
