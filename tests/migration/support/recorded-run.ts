// A run in a sandbox world that calls the handlers of the deployed functions, and records the access that each uses on AWS.
import { join } from 'node:path';
import type { HookAction } from '../../../lib/migration/ports/hooks.ts';
import type { RunRecords } from '../../../lib/migration/runs/run-store.ts';
import type { Services } from '../../../lib/migration/services.ts';
import { SOURCE, startSandboxWorld } from '../../../sandbox/world.ts';
import type { AccessRecorder } from '../../shared/support/recorded-access.ts';

export const SETTING = '/memory/collection';

const FUNCTIONS = join(import.meta.dirname, '../../../functions/migration');
const CONTEXT = { getRemainingTimeInMillis: () => 600_000 };

export type RecordedRun = Awaited<ReturnType<typeof createRecordedRun>>;

/** Creates a world for a run that has not started. */
export async function createRecordedRun(options: {
  readonly runId: string;
  readonly records: RunRecords;
  readonly recorder: AccessRecorder;
  readonly advanceClock: (milliseconds: number) => void;
}) {
  const { runId, records, recorder, advanceClock } = options;
  const { clock } = records;
  const world = await startSandboxWorld({ runId, records, memories: 6, users: 2 });
  /** Actions for which the webhook takes a while */
  const slowActions = new Set<HookAction>();
  /** Actions that no webhook does */
  const manualActions = new Set<HookAction>();
  const { hooks, vectors } = world.services;
  const services: Services = {
    ...world.services,
    setting: recorder.setting(SETTING),
    hooks: {
      ask: async (request) => {
        if (manualActions.has(request.action)) return 'asked-of-a-person';
        return slowActions.has(request.action) ? 'under-way' : await hooks.ask(request);
      },
    },
  };
  recorder.parameters.set(SETTING, SOURCE);

  async function handle(name: string, payload: object) {
    recorder.recordFor(`migration/${name}`);
    const { createHandler } = await import(join(FUNCTIONS, `${name}.ts`));
    // On AWS each function runs in its own process, so it shares no cached answers with the others.
    const artifacts = recorder.artifacts({ prefix: 'migration/', now: clock });
    try {
      return await createHandler(async () => ({ ...services, artifacts }))(payload, CONTEXT);
    } finally {
      // Work that the store does after its response takes no time on the test's clock.
      await world.qdrant.waitUntilIdle();
    }
  }

  async function invoke(name: string, input: object = {}) {
    return await handle(name, { runId, execute: true, ...input });
  }

  async function start() {
    const removes = { removesWhenOver: true, removesArtifactsWhenOver: true };
    await invoke('preflight', { sourceCollection: SOURCE, ...removes, accepts: ['unknown-space'] });
  }

  /** Repeats the watch while something is due: if the store is still busy, the watch tries again later. */
  async function watch() {
    while (await handle('retention', { source: 'aws.events' })) advanceClock(60_000);
  }

  /** Repeats the step until a person is asked for the action, and confirms the action. */
  async function confirmWhenAsked(name: string, action: HookAction) {
    manualActions.add(action);
    while ((await handle('status', { runId })).pendingAction?.action !== action) {
      advanceClock((await invoke(name)).waitSeconds * 1_000);
    }
    await handle('confirm', { runId, action, confirmedBy: 'ada' });
  }

  async function finish(...names: string[]) {
    for (const name of names) {
      for (;;) {
        const { done, waitSeconds, refused } = await invoke(name);
        if (refused) throw refused;
        if (done) break;
        advanceClock(waitSeconds * 1_000);
      }
    }
  }

  async function openWindow() {
    const { approval } = await handle('status', { runId });
    await invoke('cutover', { approvedDigest: approval.digest, approvedBy: 'ada' });
  }

  /** Lets another client write the setting during the attempt: the step looks up who wrote it, and refuses. */
  async function raceAgainst(attempt: () => Promise<unknown>): Promise<unknown> {
    recorder.recordFor('no one');
    const before = await services.setting.read();
    recorder.parameters.writeBefore(SETTING, 'of another client');
    const failure = await attempt().then(
      () => undefined,
      (error: unknown) => error,
    );
    recorder.parameters.set(SETTING, before);
    return failure;
  }

  const target = `${SOURCE}_v3_${runId}`;
  const { close } = world;
  return {
    vectors,
    target,
    slowActions,
    start,
    watch,
    finish,
    confirmWhenAsked,
    openWindow,
    invoke,
    raceAgainst,
    close,
  };
}
