// npm run verify-ledger [-- --repair] [-- --json]: whether every count, guard and key of a ledger follows from its rows.
// Exit code 0: in order; 1: drifts are left; 2: could not look.
import { parseArgs } from 'node:util';
import { readLedgerConfig } from '../lib/config.ts';
import { createVerification, type Repair } from '../lib/ledger/verification.ts';
import { DEFAULT_RETRY_POLICY } from '../lib/retry.ts';
import { createDocumentClient } from '../lib/store/document-client.ts';
import { type Drift, describeDrift } from '../lib/store/drift/drift.ts';
import { reachDatabase } from './reach-database.ts';
import { createRunning } from './running.ts';
import { firstLine } from './start-error.ts';

// A person waits.
const RETRY_POLICY = { ...DEFAULT_RETRY_POLICY, deadlineMs: 2_000 };

const USAGE = `npm run verify-ledger -- [options]: recounts a ledger from its rows
  --repair  mends what drifted
  --json    reports as JSON
Exit code 0: in order; 1: drifts are left; 2: could not look.`;

interface Options {
  readonly repair: boolean;
  readonly json: boolean;
  readonly help: boolean;
}

const running = createRunning();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => leave(2));

try {
  const options = readOptions();
  if (options.help) {
    console.log(USAGE);
    await leave(0);
  }
  const result = await verify(options);
  console.log(options.json ? toJson(result) : toText(result));
  await leave(result.verdict.drifts.length === 0 ? 0 : 1);
} catch (error) {
  console.error(`The ledger cannot be verified: ${reason(error)}`);
  await leave(2);
}

function readOptions(): Options {
  const flag = { type: 'boolean', default: false } as const;
  return parseArgs({ options: { repair: flag, json: flag, help: { ...flag, short: 'h' } } }).values;
}

async function verify({ repair }: Options): Promise<Repair> {
  const { endpoint, tableName } = await reachDatabase(running, process.env);
  const { ledgerId } = readLedgerConfig({ ...process.env, TABLE_NAME: tableName });
  const client = createDocumentClient(endpoint);
  const verification = createVerification({
    client,
    tableName,
    ledgerId,
    retryPolicy: RETRY_POLICY,
  });
  return repair
    ? await verification.repair()
    : { mended: [], verdict: await verification.verify() };
}

function toText({ mended, verdict }: Repair): string {
  const { rows, categories, drifts } = verdict;
  const verdictLine = drifts.length === 0 ? 'in order' : `drifts: ${drifts.length}`;
  return [
    ...mended.map((drift) => `mended: ${describeDrift(drift)}`),
    ...drifts.map(describeDrift),
    `${rows} transactions, ${categories} categories: ${verdictLine}`,
  ].join('\n');
}

function toJson({ mended, verdict }: Repair): string {
  const report = { ...verdict, drifts: verdict.drifts.map(toReport), mended: mended.map(toReport) };
  return JSON.stringify(report);
}

function toReport({ mending, ...drift }: Drift) {
  return { ...drift, mendable: mending !== undefined };
}

// A refused connection is an AggregateError whose own message is empty.
function reason(error: unknown): string {
  const { name, code, message } = error as NodeJS.ErrnoException;
  if (name === 'ResourceNotFoundException') return 'the table is not there';
  return message ? firstLine(error) : (code ?? name);
}

async function leave(code: number): Promise<void> {
  await running.stop();
  process.exit(code);
}
