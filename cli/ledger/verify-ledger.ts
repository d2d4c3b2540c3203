// npm run verify-ledger: recounts a ledger from its rows, and with --repair corrects the differences. Exit code 0: in order; 1:
// drifts remain; 2: the ledger does not exist or could not be read, or the command was used wrongly.
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { readLedgerId } from '../../lib/ledger/config.ts';
import { type Drift, describeDrift } from '../../lib/ledger/store/verification/drifts.ts';
import {
  createVerification,
  type Repair,
} from '../../lib/ledger/store/verification/verification.ts';
import { createDocumentClient } from '../../lib/shared/document-client.ts';
import { UserError } from '../../lib/shared/user-error.ts';
import {
  createCommand,
  createStageOption,
  EXIT,
  reportError,
  runProgram,
} from '../../processes/program.ts';
import { createResources } from '../../processes/resources.ts';
import { type DatabaseLocation, explainFailures, findLedgerDatabase } from '../find-database.ts';
import { type FileProgress, openFileProgress } from './verification-progress.ts';

const EXIT_NOT_VERIFIED = 2;

const BYTES_PER_READ_UNIT = 4096;
// List price of us-east-1, as in docs/ledger/deploy.md.
const USD_PER_MILLION_UNITS = 0.125;

const resources = createResources();
const command = createCommand('npm run verify-ledger --', 'Recount a ledger from its rows.')
  .option('--repair', 'correct what differs; implies --full')
  .option(
    '--full',
    'scan the whole table, which also finds rows that no id leads to and external ids that no row has',
  )
  .addOption(createStageOption())
  .option('--json', 'print the result as JSON')
  .addHelpText(
    'after',
    '\nExit code 0: in order; 1: drifts remain; 2: there is no such ledger, or it could not be read.',
  )
  .action(verifyLedger);

await runProgram(command, {
  resources,
  exitCodeOnSignal: EXIT_NOT_VERIFIED,
  onError: (error) => reportError(error, EXIT_NOT_VERIFIED),
});

interface Options {
  readonly repair?: true;
  readonly full?: true;
  readonly stage?: string;
  readonly json?: true;
}

// A repair reads the whole table: if it missed unreachable items, correct counts would seem too high.
async function verifyLedger({ repair, full = repair, stage, json }: Options): Promise<void> {
  const database = await findLedgerDatabase(resources, stage);
  const ledgerId = readLedgerId(process.env);
  const { id, readUnits } = await explainFailures(database, () => describeTable(database));
  const progress = openFileProgress(id, ledgerId);
  const verification = createVerification({
    client: createDocumentClient(database.endpoint),
    tableName: database.tableName,
    ledgerId,
    isFull: full === true,
    progress,
  });
  if (stage) {
    const maxUnits = full ? readUnits : await explainFailures(database, verification.countItems);
    console.error(describeCost(maxUnits, full ? database.tableName : undefined));
  }
  if (!full) await reportResumption(progress);
  const result = await explainFailures(
    database,
    async (): Promise<Repair> =>
      repair ? await verification.repair() : { repaired: [], verdict: await verification.verify() },
  );
  const { rows, categories, drifts } = result.verdict;
  const isLedgerEmpty = rows + categories + drifts.length === 0;
  // An empty ledger is an error only if LEDGER_ID names it: the default ledger may be new.
  if (
    isLedgerEmpty &&
    process.env.LEDGER_ID &&
    !(await explainFailures(database, verification.isListed))
  ) {
    throw new UserError(
      `${database.tableName} has no records of a ledger "${ledgerId}": "npm run ledger -- list" prints its ledgers. Set LEDGER_ID to one of them.`,
    );
  }
  console.log(json ? toJson(result) : toText(result, database.tableName));
  if (drifts.length > 0) process.exitCode = EXIT.failed;
}

/** Describes the cost of one pass. Each drift is read three more times; the cost does not include these reads. */
function describeCost(units: number, scannedTable: string | undefined): string {
  const subject = scannedTable ? `all of ${scannedTable}` : 'the ledger';
  const usd = ((units / 1e6) * USD_PER_MILLION_UNITS).toFixed(4);
  const cost = `Reading ${subject} takes at most ${units.toLocaleString('en')} read units, ${usd} USD.`;
  return scannedTable
    ? cost
    : `${cost} Only --full finds rows that no id leads to and external ids that no row has.`;
}

async function reportResumption({ file, load }: FileProgress): Promise<void> {
  const position = await load();
  if (position) {
    console.error(
      `Continues after transaction ${position.after}, where the last verification stopped. Delete ${file} to start from the beginning.`,
    );
  }
}

/** Reads the table's id and its size in read units. DynamoDB updates the size only every few hours. */
async function describeTable({ endpoint, tableName: TableName }: DatabaseLocation) {
  const client = createDocumentClient(endpoint);
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  const { TableId, TableArn, TableSizeBytes = 0 } = Table ?? {};
  const id = TableId ?? `${TableArn} ${endpoint}`;
  return { id, readUnits: Math.ceil(TableSizeBytes / BYTES_PER_READ_UNIT) };
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
  const drifts = verdict.drifts.map(describeForJson);
  return JSON.stringify({ ...verdict, drifts, repaired: repaired.map(describeForJson) });
}

function describeForJson({ repair, ...drift }: Drift) {
  return { ...drift, repairable: repair !== undefined };
}
