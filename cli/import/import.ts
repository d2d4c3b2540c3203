// npm run import: adds a bank's CSV file or an export to a ledger, through the API of a running or deployed service.
import { readFileSync } from 'node:fs';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { Option } from '@commander-js/extra-typings';
import cliProgress from 'cli-progress';
import { fromCents, toCents } from '../../lib/domain/money.ts';
import type { TransactionType } from '../../lib/domain/transaction.ts';
import { asPrintable } from '../../lib/migration/runs/printable.ts';
import { DEFAULT_REGION } from '../../local/local-access.ts';
import {
  createCommand,
  EXIT,
  httpAddress,
  runProgram,
  stageOption,
} from '../../local/processes/program.ts';
import { StartError } from '../../local/processes/start-error.ts';
import { isAwsHost } from '../../local/settings.ts';
import { USER_AGENTS } from '../../local/user-agents.ts';
import {
  createServiceClient,
  PATIENT_POLICY,
  type ServiceClient,
  serviceAddress,
} from '../service-client.ts';
import { DATE_ORDERS, DECIMAL_SIGNS, readStatement, type Statement } from './statement.ts';
import { missingRows, upload } from './upload.ts';

const MOST_SHOWN = 20;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

const command = createCommand(
  'npm run import --',
  "Add a bank's CSV file, or an export, to a ledger.",
)
  .argument('<file>', 'the CSV file, with a header')
  .option('--yes', 'import; without it the command only shows what it would do')
  .addOption(
    new Option('--url <url>', 'address of the service')
      .argParser(httpAddress)
      .default(serviceAddress())
      .conflicts('stage'),
  )
  .addOption(stageOption('the deployed stage, such as prod; without it, --url'))
  .option('--date <column>', 'the column of the date')
  .option('--amount <column>', 'the column of the amount; negative is an expense')
  .option('--description <column>', 'the column of the description')
  .option('--notes <column>', 'the column of the notes')
  .option(
    '--category <column>',
    "the column of the category's name; missing categories are created",
  )
  .option(
    '--type <column>',
    'the column with "income" or "expense"; the amount then keeps its sign',
  )
  .option('--id <column>', "the column of the bank's id; without it one is made from the row")
  .addOption(new Option('--date-order <order>', 'how dates are written').choices(DATE_ORDERS))
  .addOption(
    new Option('--decimal <sign>', 'the decimal sign of the amounts').choices(DECIMAL_SIGNS),
  )
  .option(
    '--account <name>',
    'a name for the account, the same each time: part of the ids that are made from rows, so that equal rows of two accounts are two transactions',
  )
  .addHelpText(
    'after',
    '\nA key is read from API_KEY. Rows that were imported before are not added again: repeat an\ninterrupted import. Exit code 0: all rows are there; 1: some were not imported.',
  )
  .action(importFile);

await runProgram(command);

async function importFile(file: string, options: ReturnType<typeof command.opts>): Promise<void> {
  const { date, amount, description, notes, category, type, id: externalId } = options;
  const { dateOrder, decimal, account } = options;
  const columns = { date, amount, description, notes, category, type, externalId };
  const statement = readStatement(readText(file), { columns, dateOrder, decimal, account });
  if (statement.rows.length + statement.errors.length === 0)
    return console.log('The file has no rows: nothing to import.');
  const url = options.stage ? await addressOf(options.stage) : options.url;
  const key = process.env.API_KEY || undefined;
  const retryPolicy = { ...PATIENT_POLICY, onRetry: explainWait };
  const service = createServiceClient({ url, key, userAgent: USER_AGENTS.import, retryPolicy });
  await describe(statement, service);
  if (options.yes) await run(statement, service);
  else {
    const { rows } = statement;
    const present = rows.length - (await missingRows(service, rows)).length;
    console.log(`${present} rows are there already`);
    console.log('Nothing was sent. Add --yes to import.');
  }
  if (statement.errors.length > 0) process.exitCode = EXIT.failed;
}

async function describe(
  { isExport, columns, decimal, dateOrder, rows, errors }: Statement,
  service: ServiceClient,
): Promise<void> {
  if (isExport) console.log('an export of this service');
  for (const [field, header] of Object.entries(columns))
    console.log(asPrintable(`${field}: column "${header}"`));
  console.log(`decimal sign: ${decimal}\ndate order: ${dateOrder}`);
  const dates = rows.map((row) => row.date).toSorted();
  const total = (wanted: TransactionType) => {
    const cents = rows.flatMap(({ type, amount }) => (type === wanted ? [toCents(amount)] : []));
    return `${cents.length} ${wanted} (${fromCents(cents.reduce((sum, each) => sum + BigInt(each), 0n))})`;
  };
  console.log(
    `${rows.length} rows from ${dates[0] ?? 'none'} to ${dates.at(-1) ?? 'none'}: ${total('income')}, ${total('expense')}`,
  );
  const known = await service.readCategories();
  const names = new Set(rows.flatMap(({ category }) => category ?? []));
  const missing = [...names].filter((name) => !known.has(name));
  if (missing.length > 0) console.log(asPrintable(`new categories: ${missing.join(', ')}`));
  show(errors);
}

async function run(statement: Statement, service: ServiceClient): Promise<void> {
  const bar = new cliProgress.SingleBar({ noTTYOutput: true, notTTYSchedule: 10_000 });
  bar.start(statement.rows.length, 0);
  const { created, duplicates, refused } = await upload(service, statement, (done) => {
    bar.update(done);
  }).finally(() => bar.stop());
  console.log(
    `${created} created, ${duplicates} were there already, ${refused.length + statement.errors.length} refused`,
  );
  show(refused);
  if (refused.length > 0) process.exitCode = EXIT.failed;
}

/** The command waits longer and longer; nothing is lost. */
function explainWait(error: unknown): void {
  const { status } = error as { status?: number };
  const why = status === undefined ? 'Nothing answers' : `The service answered ${status}`;
  console.error(`${why}: sending the same rows again in a moment`);
}

function show(lines: readonly { line: number; message: string }[]): void {
  for (const { line, message } of lines.slice(0, MOST_SHOWN)) {
    console.error(asPrintable(`line ${line} refused: ${message}`));
  }
  if (lines.length > MOST_SHOWN) console.error(`and ${lines.length - MOST_SHOWN} more`);
}

/** @throws StartError */
async function addressOf(stage: string): Promise<string> {
  const StackName = `finance-ledger-${stage}`;
  const client = new CloudFormationClient({ region: process.env.AWS_REGION || DEFAULT_REGION });
  const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName }));
  const outputs = Stacks[0]?.Outputs ?? [];
  const url = outputs.find(({ OutputKey }) => OutputKey === 'HttpApiUrl')?.OutputValue;
  if (url === undefined) throw new StartError(`The stack ${StackName} has no HttpApiUrl`);
  const { hostname } = new URL(url);
  const endpoint = process.env.AWS_ENDPOINT_URL;
  if (!endpoint || !isAwsHost(hostname)) return url;
  // An emulator names an address of AWS: the key and the rows would go to an address of another account. A proxy of AWS
  // names the right one, but an emulator on another machine looks the same.
  if (!LOOPBACK.test(new URL(httpAddress(endpoint)).hostname)) {
    throw new StartError(
      `AWS_ENDPOINT_URL is set, but ${url} is an address of AWS. Unset it, or name the address with --url`,
    );
  }
  // The emulator's own, by a path: Node resolves no names below "localhost".
  return `${httpAddress(endpoint)}/_aws/execute-api/${hostname.split('.')[0]}`;
}

function readText(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (cause) {
    throw new StartError(`${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    const isUtf16 = ['fffe', 'feff'].includes(bytes.toString('hex', 0, 2));
    const encoding = isUtf16 ? 'UTF-16' : 'ISO-8859-1';
    const command = `iconv -f ${encoding} -t UTF-8 ${file} > utf8.csv`;
    throw new StartError(`${file} is not UTF-8. If it is ${encoding}, convert it: ${command}`, {
      cause,
    });
  }
}
