// npm run replay-writes: writes what a rollback has lost onto the collection that the memory backend works on. Needs the
// variables of npm run migrate.

import { servicesFromEnvironment } from '../lib/migration/services-from-environment.ts';
import { replayWrites } from '../lib/migration/steps/lost-writes.ts';
import { createCommand, runProgram } from '../local/processes/program.ts';
import { createOutput, EXIT, reportFailure } from './migrate/output.ts';

const streams = { input: process.stdin, output: process.stdout, status: process.stderr };
const output = createOutput(streams, process.argv.includes('--json'));
const command = createCommand(
  'npm run replay-writes --',
  'Replay the writes that a rollback has lost.',
)
  .requiredOption('--export <key>', 'the artifact that the report of the rollback names')
  .option('--execute', 'write; without it, only count')
  .option('--json', 'print JSON objects, one per line')
  .action(async ({ export: key, execute }) => {
    const services = await servicesFromEnvironment(process.env);
    const isAllowed = execute === true;
    const report = await replayWrites(services, { key, execute: isAllowed });
    const { collection, written, deleted, newer } = report;
    const verb = isAllowed ? 'Replayed onto' : 'Would replay onto';
    output.line(
      `${verb} ${collection}: ${written} written, ${deleted} deleted, ${newer} left alone because they are newer.`,
      { event: 'replay-writes', execute: isAllowed, ...report },
    );
  });

await runProgram(command, {
  onError: (error) => reportFailure(error, output),
  exitCodeOnSignal: EXIT.failed,
  messageOnSignal: () => 'Interrupted: the same command continues.',
});
