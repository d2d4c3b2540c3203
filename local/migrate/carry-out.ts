// Carries an order out: asks again as often as the step wants, a person at the terminal seeing how far it is.
import { setTimeout } from 'node:timers/promises';
import * as v from 'valibot';
import { runIdSchema } from '../../lib/migration/runs/run.ts';
import { commandNamed } from './commands.ts';
import { confirmRun } from './confirm.ts';
import { type Place, statusIn } from './place.ts';
import { createProgress } from './progress.ts';
import type { Order } from './read-order.ts';
import type { Answer } from './telling.ts';
import { whatsNext } from './whats-next.ts';

export interface Terminal {
  readonly input: NodeJS.ReadStream;
  /** For everything but the answer. */
  readonly output: NodeJS.WriteStream;
}

/** A step that wants longer than this is not waited for: its day has not come. */
const LONGEST_WAIT_SECONDS = 60;

const waitingSchema = v.object({ done: v.literal(false), waitSeconds: v.number() });

/** @throws Refusal, RetryableFailure, FunctionFailedError */
export async function carryOut(order: Order, place: Place, terminal: Terminal): Promise<Answer> {
  const { name, payload, isMeant, yesRun } = order;
  const { stage } = place;
  const runId = v.is(runIdSchema, payload.runId) ? payload.runId : undefined;
  if (commandNamed(name).isGrave && isMeant && runId !== undefined) {
    await confirmRun({ runId, typed: yesRun }, terminal);
  }
  const { during } = createProgress(terminal.output);
  const result = await untilDone(
    () => during({ place, runId }, () => place.invoke(name, payload)),
    (seconds) => tellWaiting(order, place, seconds),
  );
  const status = name === 'status' ? result : await statusIn(place, runId);
  return { command: name, result, status: status as Answer['status'], stage };
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

async function tellWaiting({ name, payload }: Order, place: Place, seconds: number) {
  console.error(`${name}: not done yet, taken again in ${seconds} s`);
  const status = await statusIn(place, String(payload.runId));
  const asked = status ? whatsNext(status, place.stage) : [];
  for (const { command } of asked.filter(({ command }) => command.startsWith('approve'))) {
    console.error(`  once it is done: npm run migrate -- ${command}`);
  }
}
