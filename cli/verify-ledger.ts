// npm run verify-ledger: recounts a ledger from its rows, and with --repair corrects what differs.
// Exit code 0: in order; 1: drifts are left; 2: the ledger could not be read, or wrong use.
import { readLedgerId } from '../lib/config.ts';
import { createVerification, type Repair } from '../lib/ledger/verification.ts';
import { createDocumentClient } from '../lib/store/document-client.ts';
import { type Drift, describeDrift } from '../lib/store/verification/drifts.ts';
import {
  createCommand,
  EXIT,
  reportError,
  runProgram,
  stageOption,
} from '../local/processes/program.ts';
import { createRunning } from '../local/processes/running.ts';
import {
  explainFailures,
  type ReachedDatabase,
  reachDatabaseOfStage,
  reachLocalDatabase,
} from './reach-database.ts';

const COULD_NOT_LOOK = 2;

const running = createRunning();
const command = createCommand('npm run verify-ledger --', 'Recount a ledger from its rows.')
  .option('--repair', 'correct what differs')
  .addOption(stageOption())
  .option('--json', 'print the result as JSON')
  .addHelpText('after', '\nExit code 0: in order; 1: drifts are left; 2: could not look.')
  .action(verifyLedger);

await runProgram(command, {
  running,
  exitCodeOnSignal: COULD_NOT_LOOK,
  onError: (error) => reportError(error, COULD_NOT_LOOK),
});

interface Options {
  readonly repair?: true;
  readonly stage?: string;
  readonly json?: true;
}

async function verifyLedger({ repair, stage, json }: Options): Promise<void> {
  const database = stage
    ? reachDatabaseOfStage(stage, process.env)
    : await reachLocalDatabase(running, process.env);
  const verification = openVerification(database);
  const result = await explainFailures(
    database,
    async (): Promise<Repair> =>
      repair ? await verification.repair() : { repaired: [], verdict: await verification.verify() },
  );
  console.log(json ? toJson(result) : toText(result, database.tableName));
  if (result.verdict.drifts.length > 0) process.exitCode = EXIT.failed;
}

function openVerification({ endpoint, tableName }: ReachedDatabase) {
  const ledgerId = readLedgerId(process.env);
  const client = createDocumentClient(endpoint);
  return createVerification({ client, tableName, ledgerId });
}

function toText({ repaired, verdict }: Repair, tableName: string): string {
  const { rows, categories, drifts } = verdict;
  const result = drifts.length === 0 ? 'in order' : `drifts: ${drifts.length}`;
  return [
    ...repaired.map((drift) => `repaired: ${describeDrift(drift)}`),
    ...drifts.map(describeDrift),
    `ledger "${readLedgerId(process.env)}" of ${tableName}: ${rows} transactions, ${categories} categories: ${result}`,
  ].join('\n');
}

function toJson({ repaired, verdict }: Repair): string {
  const drifts = verdict.drifts.map(toReport);
  return JSON.stringify({ ...verdict, drifts, repaired: repaired.map(toReport) });
}

function toReport({ repair, ...drift }: Drift) {
  return { ...drift, repairable: repair !== undefined };
}
