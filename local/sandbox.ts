// npm run sandbox: all that a migration speaks to, on this machine, for whoever drives `npm run migrate` by hand; until
// SIGTERM, SIGINT or SIGHUP, and nothing of it stays. Exit code 0: stopped; 2: could not start, or its database ended.
import { rm, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { HOOK_ACTIONS, type HookAction } from '../lib/migration/ports/hooks.ts';
import { createRunning } from './running.ts';
import { openPlayground, type Playground } from './sandbox/playground.ts';
import { readSandboxOrder, type SandboxOrder, USAGE } from './sandbox/sandbox-options.ts';
import { assignmentsOf, exportsOf, firstSteps } from './sandbox/sandbox-text.ts';
import { firstLine, StartError } from './start-error.ts';
import { whenNpmIsGone } from './stop-with-npm.ts';

// What is left then, dies with this process or lies in the folder for temporary files.
const STOP_MILLISECONDS = 10_000;

const running = createRunning();
let isLeaving = false;
// Each may come more than once: of Ctrl-C the terminal tells, and npm.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => leave(0));
}
// Whoever read our lines may have gone away; that is no reason to stop.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});
whenNpmIsGone(() => leave(0));

try {
  const order = readSandboxOrder(process.argv.slice(2));
  if (order) await open(order);
  else console.log(USAGE);
} catch (error) {
  await leave(2, firstLine(error));
}

async function open(order: SandboxOrder): Promise<void> {
  const playground = await openPlayground(order, running, (action) => {
    console.log(`webhook: ${action}, done`);
  });
  playground.ended.then((how) => leave(2, `The database ${how}; everything is stopped`));
  const { environment } = playground;
  if (order.envFile !== undefined) await write(order.envFile, assignmentsOf(environment));
  if (isLeaving) return;
  for (const line of [...exportsOf(environment), ...firstSteps(order, environment)]) {
    console.log(line);
  }
  if (order.isByHand) listen(playground);
}

/** Never over what is there already. */
async function write(file: string, text: string): Promise<void> {
  await writeFile(file, text, { flag: 'wx', mode: 0o600 }).catch((cause: unknown) => {
    throw new StartError(`--env ${file} cannot be written: ${firstLine(cause)}`, { cause });
  });
  running.whenStopping(() => rm(file, { force: true }));
}

/** To the person at the terminal, whose words are what an operator would do. */
function listen(playground: Playground): void {
  const carryOut = async (word: string) => {
    if (!isAction(word)) return console.log(`The words are ${HOOK_ACTIONS.join(', ')}`);
    await playground.act(word).then(
      () => console.log(`${word}, done`),
      (error: unknown) => console.log(`${word} failed: ${firstLine(error)}`),
    );
  };
  let done = Promise.resolve();
  createInterface({ input: process.stdin }).on('line', (line) => {
    done = done.then(() => carryOut(line.trim()));
  });
}

function isAction(word: string): word is HookAction {
  return HOOK_ACTIONS.some((action) => action === word);
}

async function leave(code: number, line?: string): Promise<void> {
  if (isLeaving) return;
  isLeaving = true;
  if (line) console.error(line);
  setTimeout(() => process.exit(code), STOP_MILLISECONDS);
  await running.stop();
  process.exit(code);
}
