// npm run restore-graph: restores a graph dump of a backup into the empty graph at NEO4J_URL. The exit codes are the same as
// those of npm run migrate.
import { CommanderError, InvalidArgumentError } from '@commander-js/extra-typings';
import { openArtifacts } from '../../../lib/migration/adapters/open-artifacts.ts';
import { isArtifactKey } from '../../../lib/migration/ports/artifacts.ts';
import { openSecrets } from '../../../lib/migration/services-from-environment.ts';
import { readRestoreSettings } from '../../../lib/migration/settings.ts';
import { createCommand, runProgram } from '../../../processes/program.ts';
import { parseRunId } from '../migrate/options.ts';
import { createOutput, EXIT, reportFailure } from '../migrate/output.ts';
import { openNeo4jTarget } from './neo4j-target.ts';
import { chooseExitCode, formatOutcome } from './output.ts';
import { type RestoreRequest, runCommand } from './run-command.ts';

const streams = { input: process.stdin, output: process.stdout, status: process.stderr };
const output = createOutput(streams, process.argv.includes('--json'));
const command = createCommand(
  'npm run restore-graph --',
  'Restore a graph dump into an empty graph.',
)
  .option('--run <id>', 'list the graph dumps of this run, the latest first', parseRunId)
  .option('--dump <dump>', 'check this dump against the graph of NEO4J_URL')
  .option(
    '--digest <sha256>',
    'refuse any other dump; `graphDigest` in the report of the run',
    parseDigest,
  )
  .option('--execute', 'restore the dump there; the graph must be empty')
  .option('--json', 'print JSON objects, one per line')
  .addHelpText(
    'after',
    '\nExit codes: 0 done, or a dry run; 1 failed, or the graph differs from its dump; 2 wrong use; 3 refused.',
  )
  .action(async (typedOptions) => {
    const request = createRequest(typedOptions);
    const { artifacts, target } = await openParts();
    await using _ = target;
    const outcome = await runCommand(request, { artifacts, target });
    process.exitCode = chooseExitCode(outcome);
    output.line(formatOutcome(outcome), {
      event: 'restore-graph',
      exitCode: process.exitCode,
      ...outcome,
    });
  });

await runProgram(command, {
  onError: (error) => reportFailure(error, output),
  exitCodeOnSignal: EXIT.failed,
  messageOnSignal: () => 'Interrupted: the same command continues.',
});

async function openParts() {
  const settings = readRestoreSettings(process.env);
  const password = (await openSecrets(process.env).read('NEO4J_PASSWORD')).reveal();
  return {
    artifacts: openArtifacts(settings.ARTIFACTS_URL, {
      bucketOwner: settings.ARTIFACTS_BUCKET_OWNER,
    }),
    target: openNeo4jTarget({
      url: settings.NEO4J_URL,
      database: settings.NEO4J_DATABASE,
      user: settings.NEO4J_USER,
      password,
    }),
  };
}

interface TypedOptions {
  readonly run?: string;
  readonly dump?: string;
  readonly digest?: string;
  readonly execute?: true;
}

function createRequest({ run, dump, digest, execute }: TypedOptions): RestoreRequest {
  if (run !== undefined && dump === undefined && !digest && !execute) return { run };
  if (dump !== undefined && run === undefined) {
    if (isArtifactKey(dump)) return { dump, digest, executes: execute === true };
    throw wrongUse('Invalid --dump: use the form RUN/graph-12, as --run lists them.');
  }
  throw wrongUse('Use either --run, which lists the dumps of a run, or --dump.');
}

function parseDigest(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new InvalidArgumentError('Use the 64 hexadecimal digits that the report of the run shows.');
}

function wrongUse(message: string): CommanderError {
  return new CommanderError(EXIT.wrongUse, 'wrong-use', message);
}
