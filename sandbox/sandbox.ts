// npm run sandbox: the services of a migration on this machine, for trying `npm run migrate` by hand. It runs until SIGTERM,
// SIGINT or SIGHUP, and keeps nothing. The exit code is 0 after a signal, and 2 if the sandbox could not start or its database
// ended.
import { rm, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { HOOK_ACTIONS, type HookAction } from '../lib/migration/ports/hooks.ts';
import { firstLine, UserError } from '../lib/shared/user-error.ts';
import { EXIT, reportError, runProgram } from '../processes/program.ts';
import { createResources } from '../processes/resources.ts';
import { openPlayground, type Playground } from './playground.ts';
import { createSandboxCommand, type SandboxOptions } from './sandbox-options.ts';
import { describeFirstSteps, formatAssignments, formatExports } from './sandbox-text.ts';

// After this time the process exits even if a resource has not stopped. Nothing outlives it but files in the temporary folder.
const STOP_MILLISECONDS = 10_000;
const EXIT_NOT_STARTED = 2;

const resources = createResources();
await runProgram(createSandboxCommand(open), {
  resources,
  exitCodeOnSignal: EXIT.done,
  stopMilliseconds: STOP_MILLISECONDS,
  onError: (error) => reportError(error, EXIT_NOT_STARTED),
});

async function open(options: SandboxOptions): Promise<void> {
  const playground = await openPlayground(options, resources, (action) => {
    console.log(`webhook: ${action}, done`);
  });
  const { environment } = playground;
  if (options.envFile !== undefined)
    await writeNewFile(options.envFile, formatAssignments(environment));
  for (const line of [...formatExports(environment), ...describeFirstSteps(options, environment)]) {
    console.log(line);
  }
  if (options.isByHand) performTypedActions(playground);
  throw new UserError(`The database ${await playground.ended}; everything is stopped`);
}

/** Never replaces an existing file. */
async function writeNewFile(file: string, text: string): Promise<void> {
  await writeFile(file, text, { flag: 'wx', mode: 0o600 }).catch((cause: unknown) => {
    throw new UserError(`--env ${file} cannot be written: ${firstLine(cause)}`, { cause });
  });
  resources.onStop(() => rm(file, { force: true }));
}

/** Reads lines from the person at the terminal; each line is an action of the operator. */
function performTypedActions(playground: Playground): void {
  const runCommand = async (word: string) => {
    if (!isAction(word))
      return console.log(`Unknown action; type one of ${HOOK_ACTIONS.join(', ')}`);
    await playground.perform(word).then(
      () => console.log(`${word}, done`),
      (error: unknown) => console.log(`${word} failed: ${firstLine(error)}`),
    );
  };
  let previous = Promise.resolve();
  createInterface({ input: process.stdin }).on('line', (line) => {
    previous = previous.then(() => runCommand(line.trim()));
  });
}

function isAction(word: string): word is HookAction {
  return HOOK_ACTIONS.some((action) => action === word);
}
