// Carries an order out: asks again as often as the step wants, a person at the terminal seeing how far it is.
import { setTimeout } from 'node:timers/promises';
import * as v from 'valibot';
import { runIdSchema } from '../../lib/migration/runs/run.ts';
import { firstLine } from '../start-error.ts';
import { askedOf } from './asked-text.ts';
import { awaitTurn } from './await-turn.ts';
import { type CommandName, commandNamed } from './commands.ts';
import { confirmRun } from './confirm.ts';
import { countText } from './durations.ts';
import { type Place, statusFrom, statusIn } from './place.ts';
import { createProgress } from './progress.ts';
import type { Order } from './read-order.ts';
import type { Answer } from './telling.ts';
import { COMMAND_LINE, whatsNext } from './whats-next.ts';

export interface Terminal {
  readonly input: NodeJS.ReadStream;
  /** For everything but the answer. */
  readonly output: NodeJS.WriteStream;
}

interface Told {
  readonly name: CommandName;
  readonly place: Place;
  readonly runId: string | undefined;
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
    await confirmRun({ runId, what: whatIsMeant(order, stage), typed: yesRun }, terminal);
  }
  const { during } = createProgress(terminal.output);
  const inTurn = (take: () => Promise<unknown>) =>
    // A timer comes again by itself.
    commandNamed(name).by === 'a timer'
      ? take()
      : awaitTurn(take, (line) => terminal.output.write(`${name}: ${line}\n`));
  const told = { name, place, runId };
  const result = await untilDone(
    () => during(told, () => inTurn(() => place.invoke(name, payload))),
    (seconds) => tellWaiting(told, seconds, terminal),
  );
  const status =
    name === 'status' ? statusFrom(place, result) : await whereItStands(told, terminal);
  return { command: name, result, status, stage };
}

function whatIsMeant({ name, payload }: Order, stage: string | undefined): string {
  const { does } = commandNamed(name);
  const there = stage === undefined ? '' : ` on stage ${stage}`;
  const { acknowledgedLoss: loss } = payload;
  const price = typeof loss === 'number' ? `, and loses ${countText(loss, 'write')}` : '';
  return `${name}${there}: ${does}${price}`;
}

// What was done is done, whatever becomes of the question where the run stands now.
async function whereItStands({ place, runId }: Told, { output }: Terminal) {
  try {
    return await statusIn(place, runId);
  } catch (error) {
    output.write(`Where the run stands now could not be told: ${firstLine(error)}\n`);
    return undefined;
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

async function tellWaiting(told: Told, seconds: number, terminal: Terminal): Promise<void> {
  terminal.output.write(`${told.name}: not done yet, taken again in ${seconds} s\n`);
  const status = await whereItStands(told, terminal);
  const asked = status ? whatsNext(status, told.place.stage) : [];
  for (const { toDo } of status ? askedOf(status) : []) {
    terminal.output.write(`  to be done by a person: ${toDo}\n`);
  }
  for (const { command } of asked.filter(({ command }) => command.startsWith('approve'))) {
    terminal.output.write(`  once it is done: ${COMMAND_LINE} ${command}\n`);
  }
}
