// npm run migrate -- COMMAND: the operator's command line over the migration's functions, with services as the
// environment names them, or with `--stage` those that are deployed. Exit code 0: done, or nothing to do yet;
// 1: failed; 2: wrong use; 3: refused.
import { Refusal } from '../lib/migration/refusals.ts';
import { translateFailure } from '../lib/migration/runs/translate-failure.ts';
import { carryOut } from './migrate/carry-out.ts';
import { createOnStage } from './migrate/on-stage.ts';
import { openHere } from './migrate/open-here.ts';
import type { Place } from './migrate/place.ts';
import { type Order, readOrder } from './migrate/read-order.ts';
import {
  answerAsJson,
  answerAsText,
  EXIT,
  type ExitCode,
  failureAsJson,
  helpAsJson,
  helpOn,
} from './migrate/telling.ts';
import { WrongUseError } from './migrate/typed-values.ts';
import { createRunning } from './running.ts';

const words = process.argv.slice(2);
const isForMachines = words.includes('--json');
const running = createRunning();
let onInterruption = 'Interrupted: the same command goes on from there.';
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    console.error(onInterruption);
    leave(EXIT.failed);
  });
}

await leave(await migrate());

async function migrate(): Promise<ExitCode> {
  try {
    const order = readOrder(words);
    if (!('name' in order)) {
      console.log(isForMachines ? helpAsJson(order.helpOn) : helpOn(order.helpOn));
      return EXIT.done;
    }
    const terminal = { input: process.stdin, output: process.stderr };
    const answer = await carryOut(order, await openPlace(order), terminal);
    console.log(isForMachines ? answerAsJson(answer) : answerAsText(answer));
    return EXIT.done;
  } catch (error) {
    return tellFailure(translateFailure(error));
  }
}

async function openPlace({ name, stage }: Order): Promise<Place> {
  if (stage === undefined) return await openHere(name, running);
  onInterruption = `Interrupted: what runs on ${stage} ends by itself; the same command goes on from there.`;
  return createOnStage(stage);
}

function tellFailure(cause: unknown): ExitCode {
  const error = cause instanceof Error ? cause : new Error(String(cause));
  const exitCode = exitCodeOf(error);
  if (isForMachines) console.log(failureAsJson(error, exitCode));
  else console.error(`${error.name}: ${error.message}`);
  if (exitCode === EXIT.wrongUse && !isForMachines) console.error('See npm run migrate -- --help');
  return exitCode;
}

function exitCodeOf(error: Error): ExitCode {
  if (error instanceof WrongUseError) return EXIT.wrongUse;
  return error instanceof Refusal ? EXIT.refused : EXIT.failed;
}

async function leave(code: ExitCode): Promise<void> {
  await running.stop();
  process.exit(code);
}
