// One migration of the rehearsal, in a sandbox of its own: a run from its start to wherever it leads.
import { randomUUID } from 'node:crypto';
import { type Fingerprint, fingerprintOf } from '../../lib/migration/proof/fingerprint.ts';
import { createRemembering, type Remembering } from '../../lib/migration/runs/remembering.ts';
import type { Run } from '../../lib/migration/runs/run.ts';
import { type StepInput, takeStep } from '../../lib/migration/runs/step.ts';
import { rollback } from '../../lib/migration/steps/rollback.ts';
import { startRun } from '../../lib/migration/steps/start.ts';
import { createDocumentClient } from '../../lib/store/document-client.ts';
import { createLocalClient, createTable } from '../create-table.ts';
import {
  type SandboxWorld,
  SOURCE,
  startSandboxWorld,
  type WorldOptions,
} from '../sandbox/world.ts';
import { execute } from './state-machine.ts';

export const RUN = 'rehearsal';
export const TARGET = `${SOURCE}_v3_${RUN}`;

const POLL_MS = 5_000;

export interface TimelineEntry {
  readonly minutes: number;
  readonly event: string;
}

export interface Rehearsal {
  readonly world: SandboxWorld;
  readonly timeline: TimelineEntry[];
  /** What the old collection held before anything began. */
  readonly before: Fingerprint;
  /** Through the state machine; the person approves what there is to approve. */
  migrate(onTask?: (state: string) => Promise<void>): Promise<string | undefined>;
  goBack(input?: Partial<StepInput>): Promise<void>;
  run(): Promise<Run>;
  close(): Promise<void>;
}

/** @param endpoint of the embedded database */
export async function startRehearsal(
  endpoint: string,
  options: Partial<WorldOptions>,
): Promise<Rehearsal> {
  let time = Date.now();
  const begun = time;
  const clock = () => new Date(time);
  const remembering = await remember(endpoint, clock);
  const world = await startSandboxWorld({ runId: RUN, remembering, ...options });
  const { services } = world;
  const timeline: TimelineEntry[] = [];
  const note = (event: string) => timeline.push({ minutes: (time - begun) / 60_000, event });
  const before = await fingerprintOf(services.vectors, SOURCE);
  const run = () => services.runs.read(RUN);

  async function approve(): Promise<void> {
    const { phase, evidence } = await run();
    if (phase !== 'verified') return;
    const evidenceDigest = evidence['verification-report']?.digest ?? '';
    const approval = { gate: 'window', evidenceDigest, approvedBy: 'rehearsal' } as const;
    await services.approvals.approve(await run(), { ...approval, expiresAt: time + 3_600_000 });
  }

  async function migrate(onTask = async (_: string) => {}): Promise<string | undefined> {
    const payload = { runId: RUN, execute: true, sourceCollection: SOURCE, freeBytes: 1e9 };
    await startRun(services, payload);
    const { failure } = await execute({
      runId: RUN,
      services,
      beforeTask: async (state) => {
        if (state === 'Look') await approve();
        else if (timeline.at(-1)?.event !== state) note(state);
        await onTask(state);
        time += POLL_MS;
      },
    });
    note(failure ? `ended with ${failure.name}` : 'live');
    return failure?.name;
  }

  async function goBack(input: Partial<StepInput> = {}): Promise<void> {
    note('rollback');
    const payload = { runId: RUN, execute: true, ...input };
    for (;;) {
      const result = await takeStep(rollback, services, { payload, timeLeftMs: () => 600_000 });
      if (result.dryRun || result.done) break;
      time += result.waitSeconds * 1_000;
    }
    note('returned');
  }

  return { world, timeline, before, migrate, goBack, run, close: world.close };
}

async function remember(endpoint: string, clock: () => Date): Promise<Remembering> {
  const tableName = `rehearsal-${randomUUID()}`;
  const client = createLocalClient(endpoint);
  await createTable(client, tableName);
  client.destroy();
  return createRemembering({ client: createDocumentClient(endpoint), tableName, clock });
}
