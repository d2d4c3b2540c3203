// Carries an order out: asks again as often as the step wants, a person at the terminal seeing how far it is.
import { setTimeout } from 'node:timers/promises';
import { SingleBar } from 'cli-progress';
import * as v from 'valibot';
import { type Progress, runIdSchema } from '../../lib/migration/runs/run.ts';
import type { Services } from '../../lib/migration/services.ts';
import { readStatus, type Status } from '../../lib/migration/steps/status.ts';
import { commandNamed } from './commands.ts';
import { confirmRun } from './confirm.ts';
import type { Order } from './read-order.ts';
import type { Answer } from './telling.ts';
import { whatsNext } from './whats-next.ts';

/** A step that wants longer than this is not waited for: its day has not come. */
const LONGEST_WAIT_SECONDS = 60;

const CONTEXT = { getRemainingTimeInMillis: () => Number.POSITIVE_INFINITY };

const waitingSchema = v.object({ done: v.literal(false), waitSeconds: v.number() });

/** @throws Refusal, RetryableFailure */
export async function carryOut(order: Order, services: Services): Promise<Answer> {
  const { name, payload, isMeant, yesRun } = order;
  const command = commandNamed(name);
  const runId = v.is(runIdSchema, payload.runId) ? payload.runId : undefined;
  const bar = createBar();
  const handler = command.createHandler(async () => watched(services, bar.show));
  if (command.isGrave && isMeant && runId !== undefined) {
    await confirmRun({ runId, typed: yesRun }, { input: process.stdin, output: process.stderr });
  }
  try {
    const result = await untilDone(
      () => handler(payload, CONTEXT),
      async (seconds) => {
        bar.stop();
        tellWaiting(order, await readStatus(services, runId), seconds);
      },
    );
    return { command: name, result, status: await statusAfter(services, runId) };
  } finally {
    bar.stop();
  }
}

async function untilDone(
  take: () => Promise<unknown>,
  onWaiting: (seconds: number) => Promise<void>,
): Promise<unknown> {
  for (;;) {
    const result = await take();
    if (!v.is(waitingSchema, result) || result.waitSeconds > LONGEST_WAIT_SECONDS) return result;
    await onWaiting(result.waitSeconds);
    await setTimeout(result.waitSeconds * 1_000);
  }
}

function tellWaiting({ name }: Order, status: Status, seconds: number): void {
  console.error(`${name}: not done yet, taken again in ${seconds} s`);
  for (const { command } of whatsNext(status).filter(({ command }) =>
    command.startsWith('approve'),
  )) {
    console.error(`  once it is done: npm run migrate -- ${command}`);
  }
}

/** A dry start and a watch over nothing leave no run behind. */
async function statusAfter(services: Services, runId?: string): Promise<Status | undefined> {
  const id = runId ?? (await services.lock.latestRun());
  if (id === undefined) return undefined;
  try {
    return await readStatus(services, id);
  } catch (error) {
    if (error instanceof Error && error.name === 'RefusedUnknownRun') return undefined;
    throw error;
  }
}

/** The same services, with every checkpoint seen. */
function watched(services: Services, show: (progress: Progress) => void): Services {
  const { runs } = services;
  const saveCheckpoint: typeof runs.saveCheckpoint = async (lease, step, checkpoint) => {
    await runs.saveCheckpoint(lease, step, checkpoint);
    if (checkpoint.progress) show(checkpoint.progress);
  };
  return { ...services, runs: { ...runs, saveCheckpoint } };
}

// On standard error, and only for a terminal: what is written to a pipe stays the answer alone.
function createBar() {
  const bar = new SingleBar({ stream: process.stderr, hideCursor: true });
  return {
    show({ done, total }: Progress) {
      if (!bar.isActive) bar.start(total, 0);
      bar.update(done);
    },
    stop() {
      if (bar.isActive) bar.stop();
    },
  };
}
