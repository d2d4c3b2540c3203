// npm run restore: restores the table of a deployed stage to a moment in the past, and moves the stage to it.
import { setTimeout as sleep } from 'node:timers/promises';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { openTable } from '../../lib/ledger/store/ledger-items.ts';
import { registerLedgers } from '../../lib/ledger/store/list-of-ledgers.ts';
import { verifyAllLedgers } from '../../lib/ledger/store/verification/all-ledgers.ts';
import { hasEnded } from '../../lib/migration/phases.ts';
import { LOCK_KEY, recordKey } from '../../lib/migration/runs/run-lock.ts';
import { createDatabase } from '../../lib/shared/database.ts';
import { DEFAULT_RETRY_POLICY } from '../../lib/shared/retry.ts';
import { UserError } from '../../lib/shared/user-error.ts';
import { createCommand, createStageOption, EXIT, runProgram } from '../../processes/program.ts';
import { createResources } from '../../processes/resources.ts';
import { explainFailures } from '../find-database.ts';
import { withProgressBar } from '../progress.ts';
import { createAsk } from '../prompt.ts';
import { createRestoration, nameRestoredTable, runSteps } from './restoration.ts';
import { createStageOnAws, type StageOnAws } from './stage-on-aws.ts';

const resources = createResources();
const command = createCommand(
  'npm run restore --',
  'Restore the table of a deployed stage to a moment in the past, and move the stage to it.',
)
  .addOption(createStageOption('the deployed stage, such as prod').makeOptionMandatory())
  .option('--to <time>', 'the moment before the damage: 2026-03-05T08:30:00Z', parseTime)
  .option(
    '--table <name>',
    'instead of --to: an existing table, such as one restored from a backup',
  )
  .option('--from <table>', 'the table that had the data then; without it, the table in use')
  .option('--dry-run', 'show the steps and which of them are done; change nothing')
  .option('--abort', 'allow writes again, on the table in use')
  .option(
    '--during-run <id>',
    'the id of an active migration run; its record is restored to that moment, too',
  )
  .option('--yes', 'do not ask')
  .addHelpText(
    'after',
    '\nRepeat the command when it is interrupted, with the same options: it continues where it stopped. Needs the role "restore" of docs/ledger/deploy.md.',
  )
  .action(restore);

await runProgram(command, { resources });

type Options = ReturnType<typeof command.opts>;

async function restore(options: Options): Promise<void> {
  const { stage, to: time, table, from, dryRun, abort } = options;
  if ((time === undefined) === (table === undefined)) {
    throw new UserError('Give either --to (a moment) or --table (an existing table).');
  }
  const aws = createStageOnAws(stage);
  const database = { endpoint: undefined, tableName: aws.stackName };
  await explainFailures(database, async () => {
    const { tableInUse } = await aws.readStack();
    const source = from ?? tableInUse;
    const report = (line: string) => console.error(line);
    const { client } = aws;
    const verify = (tableName: string) => verifyTable(aws, tableName);
    const addToLedgerList = (tableName: string, ledgerIds: readonly string[]) =>
      registerLedgers(
        openTable({ client, tableName, retryPolicy: DEFAULT_RETRY_POLICY }),
        ledgerIds,
      );
    const target = time ? nameRestoredTable(aws.stackName, time) : String(table);
    const { steps, allowWrites } = createRestoration({
      ...{ aws, stage, source, target, time, verify, addToLedgerList, report },
      sleep: (milliseconds) => sleep(milliseconds),
    });
    if (dryRun) {
      for (const [index, { title, isDone }] of steps.entries()) {
        console.log(`${index + 1}. ${title}${(await isDone()) ? ' (done)' : ''}`);
      }
      return;
    }
    if (abort) return await runSteps([allowWrites], report);
    if (tableInUse !== target) await refuseDuringRun(aws, tableInUse, options.duringRun);
    if (!options.yes && !(await isConfirmed(options, tableInUse))) {
      console.error('Nothing was changed.');
      process.exitCode = EXIT.failed;
      return;
    }
    await runSteps(steps, report);
    console.log(
      `The stage ${stage} uses ${target}. If ledgers were deleted or keys revoked since the restored moment, delete or revoke them again now.`,
    );
  });
}

async function verifyTable(aws: StageOnAws, tableName: string) {
  const { ItemCount = 0 } = (await aws.describeTable(tableName)) ?? {};
  return await withProgressBar(ItemCount, (onItem) =>
    verifyAllLedgers({ client: aws.client, tableName, onItem }),
  );
}

/** Refuses a restore during a migration run, which would resume from a record older than its latest step. */
async function refuseDuringRun(
  { client }: StageOnAws,
  tableName: string,
  acceptedRunId: string | undefined,
): Promise<void> {
  const database = createDatabase({ client, tableName, retryPolicy: DEFAULT_RETRY_POLICY });
  const lock = await database.get(LOCK_KEY);
  const runId = lock?.active_run || (lock?.live_runs as string[] | undefined)?.at(-1);
  if (!runId || runId === acceptedRunId) return;
  const phase = (await database.get(recordKey(String(runId))))?.phase;
  if (hasEnded(phase as string)) return;
  throw new UserError(
    `The migration run ${runId} is ${phase}. Finish it first, or add --during-run ${runId}.`,
  );
}

async function isConfirmed({ stage }: Options, tableInUse: string): Promise<boolean> {
  const ask = createAsk(
    { input: process.stdin, status: process.stderr },
    new AbortController().signal,
  );
  const question = `Writes to the stage ${stage} stop. Newer data will exist only in ${tableInUse}.\nType ${stage} to continue: `;
  const answer = await ask(question);
  if (answer === undefined)
    throw new UserError('There is no terminal to ask for confirmation. Add --yes.');
  return answer === stage;
}

function parseTime(text: string): Date {
  const time = new Date(text);
  if (/T.*(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(time.getTime())) {
    // Rounds down, because DynamoDB restores to whole seconds.
    return new Date(Math.floor(time.getTime() / 1000) * 1000);
  }
  throw new InvalidArgumentError('Use a time with its zone, such as 2026-03-05T08:30:00Z.');
}
