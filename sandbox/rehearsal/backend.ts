// The real memory backend, if MEMORY_BACKEND_URL names one. During an act the backend works on the rehearsal's collection, and
// afterwards on its own collection again, which the rehearsal only reads.
import { setTimeout as pause } from 'node:timers/promises';
import type { Hooks } from '../../lib/migration/ports/hooks.ts';
import { readDenseVector } from '../../lib/migration/ports/vector-store.ts';
import { testUserOf } from '../../lib/migration/runs/run-names.ts';
import type { Services } from '../../lib/migration/services.ts';
import { openServices } from '../../lib/migration/services-from-environment.ts';
import { UserError } from '../../lib/shared/user-error.ts';
import type { Resources } from '../../processes/resources.ts';
import type { RehearsalStore } from './store.ts';
import { createTerminalHooks } from './terminal-hooks.ts';

type BackendServices = Pick<Services, 'backend' | 'preview' | 'setting' | 'hooks'>;

export interface RehearsalBackend {
  readonly url: string;
  /** Size of the vectors of the backend's embedding model. */
  readonly dimensions: number;
  /** True if a person at the terminal does the work of the webhook. */
  readonly asksAPerson: boolean;
  services(act: number): BackendServices;
  /** Points the backend at the collection, which must exist. */
  workOn(act: number, collection: string): Promise<void>;
  /** Points the backend at its own collection again. */
  restore(): Promise<void>;
  readCollection(): Promise<string>;
}

type Environment = Readonly<Record<string, string | undefined>>;

const POLL_MS = 1_000;

/** @returns undefined if no backend is named @throws UserError or Refusal, before the backend is changed */
export async function openBackend(options: {
  readonly environment: Environment;
  readonly runId: string;
  readonly resources: Resources;
  readonly store: RehearsalStore;
  readonly mayRedeploy: boolean;
}): Promise<RehearsalBackend | undefined> {
  const { environment, runId, resources, store, mayRedeploy } = options;
  const { MEMORY_BACKEND_URL: url, MIGRATION_WEBHOOK_URL: webhook } = environment;
  if (!url) return undefined;
  assertIntended(environment, mayRedeploy);
  const services = await openBackendServices(environment);
  const ownCollection = await services.setting.read();
  const dimensions = await readDimensions(store, ownCollection);
  await services.backend.health();
  const placement = createPlacement(services, { runId, ownCollection });
  resources.onStop(placement.restore);
  return {
    url,
    dimensions,
    asksAPerson: !webhook,
    readCollection: services.setting.read,
    workOn: placement.workOn,
    restore: placement.restore,
    services: (act) => ({
      ...services,
      // The preview was started on the collection of the first act, so no other act can use it.
      preview: act === 1 ? services.preview : undefined,
      hooks: placement.createHooks(act),
    }),
  };
}

async function openBackendServices(environment: Environment): Promise<BackendServices> {
  const { backend, preview, setting, hooks } = await openServices({
    ...environment,
    // The rehearsal has its own table, artifacts and graph, so these values are never used.
    TABLE_NAME: 'unused',
    ARTIFACTS_URL: 'file:///unused',
    NEO4J_URL: undefined,
  });
  const terminal = { input: process.stdin, output: process.stderr };
  const hasWebhook = Boolean(environment.MIGRATION_WEBHOOK_URL);
  return { backend, preview, setting, hooks: hasWebhook ? hooks : createTerminalHooks(terminal) };
}

/** @param ownCollection the collection on which the backend works outside rehearsals */
function createPlacement(
  { backend, setting, hooks }: BackendServices,
  { runId, ownCollection }: { readonly runId: string; readonly ownCollection: string },
) {
  const tag = Date.now().toString(36);
  let act = 0;

  // All acts share the run's id, and so the test user. Requests to the webhook carry a separate id for each act; otherwise the
  // webhook would take an action that an earlier act has requested for a retry.
  const createWebhookRunId = (number: number) => `${runId}-${tag}-${number}`;
  const createHooks = (number: number): Hooks => ({
    ask: (request) => hooks.ask({ ...request, runId: createWebhookRunId(number) }),
  });

  async function pointAt(collection: string, occasion: 'before' | 'after'): Promise<void> {
    const current = await setting.read();
    await setting.change({ from: current, to: collection });
    for (const action of ['deploy-old', 'open-writes'] as const) {
      const request = { action, occasion, collection, testUser: testUserOf(runId) };
      const hookRequest = { ...request, runId: createWebhookRunId(act), deadlineAt: undefined };
      while ((await hooks.ask(hookRequest)) !== 'done') await pause(POLL_MS);
    }
    await backend.health();
  }

  return {
    createHooks,
    async workOn(number: number, collection: string): Promise<void> {
      act = number;
      await pointAt(collection, 'before');
    },
    async restore(): Promise<void> {
      if ((await setting.read()) !== ownCollection) await pointAt(ownCollection, 'after');
    },
  };
}

function assertIntended(environment: Environment, mayRedeploy: boolean): void {
  const { QDRANT_URL, MIGRATION_WEBHOOK_URL } = environment;
  if (!QDRANT_URL) {
    throw new UserError(
      'MEMORY_BACKEND_URL is set, but QDRANT_URL is not: set it to the store that the backend works on',
    );
  }
  if (!mayRedeploy) {
    throw new UserError(
      'MEMORY_BACKEND_URL is set: its users would lose access to their memories during the rehearsal; ' +
        'add "--redeploy-backend" if you accept that, or unset it to rehearse with the sandbox\'s backend',
    );
  }
  if (MIGRATION_WEBHOOK_URL || process.stdin.isTTY) return;
  throw new UserError(
    'No webhook and no person can freeze and deploy the backend: set MIGRATION_WEBHOOK_URL, or rehearse at a terminal',
  );
}

async function readDimensions({ vectors }: RehearsalStore, collection: string): Promise<number> {
  const info = await vectors.readCollectionInfo(collection);
  const { size } = readDenseVector(info);
  if (size !== undefined) return size;
  throw new UserError(
    `The backend works on ${collection}, which is not a collection with one unnamed vector in the store at QDRANT_URL`,
  );
}
