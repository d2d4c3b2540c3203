// npm run migrate -- COMMAND: the operator's command line. By default, the functions of the migration run in this process, with the
// services that environment variables name. With `--stage`, they run on a deployed stage.

import { runProgram } from '../../../processes/program.ts';
import { createResources } from '../../../processes/resources.ts';
import { openLocalInvoker } from './local-invoker.ts';
import { formatGuidance } from './next-steps.ts';
import { createOutput, EXIT, reportFailure } from './output.ts';
import { createMigrateProgram } from './program.ts';
import { createStageInvoker } from './stage-invoker.ts';

// Time for a running request to end, so that the interrupted step releases its lock. Otherwise the lock expires by itself.
const STOP_MILLISECONDS = 10_000;
const REPEAT_ADVICE = 'To continue, repeat the command.';

const resources = createResources();
const interruption = new AbortController();
const streams = { input: process.stdin, output: process.stdout, status: process.stderr };
const output = createOutput(streams, process.argv.includes('--json'));
const { signal } = interruption;
const { command, state } = createMigrateProgram({
  resources,
  interruption,
  streams,
  output,
  openInvoker: async ({ stage, needs }) =>
    stage === undefined
      ? await openLocalInvoker({
          ...{ resources, needs, signal },
          onWaiting: output.note,
          log: output.log,
        })
      : createStageInvoker(stage),
});

await runProgram(command, {
  resources,
  onError: (error) => reportFailure(error, output, state.guidance),
  exitCodeOnSignal: EXIT.failed,
  messageOnSignal: () => 'Stopping ...',
  messageWhenStopped: (isReleased) =>
    `Interrupted: ${describeLock(isReleased)} ${formatGuidance(state.guidance) || REPEAT_ADVICE}`,
  stopMilliseconds: STOP_MILLISECONDS,
});

function describeLock(isReleased: boolean): string {
  if (state.stage !== undefined) return `a running step continues on stage ${state.stage}.`;
  if (isReleased) return 'this command holds no lock.';
  return 'a request is still running; if it holds the lock, the lock expires within two minutes.';
}
