// npm run import: adds a bank's CSV file or an export to a ledger, through the API of a running or deployed service, and takes
// an import back.
import { basename } from 'node:path';
import { Option } from '@commander-js/extra-typings';
import { DECIMAL_SIGNS } from '../../../lib/ledger/import/amounts.ts';
import { DATE_ORDERS } from '../../../lib/ledger/import/dates.ts';
import type { LayoutOptions } from '../../../lib/ledger/import/layouts.ts';
import type { ImportPlan } from '../../../lib/ledger/import/plan.ts';
import {
  type CategoryOptions,
  planWithCategories,
} from '../../../lib/ledger/import/plan-with-categories.ts';
import { createRecorder, resolvePendingRecords } from '../../../lib/ledger/import/recorded-rows.ts';
import {
  type Statement,
  type StatementOptions,
  splitTrailer,
} from '../../../lib/ledger/import/statement.ts';
import type { StatementRow } from '../../../lib/ledger/import/transaction-row.ts';
import { USER_AGENTS } from '../../../local/user-agents.ts';
import {
  createCommand,
  EXIT,
  httpAddress,
  runProgram,
  stageOption,
  wholeNumber,
} from '../../../processes/program.ts';
import { withBar } from '../../progress.ts';
import { addressOfStage } from '../../stage-address.ts';
import {
  createServiceClient,
  PATIENT_POLICY,
  type ServiceClient,
  serviceAddress,
} from '../service-client.ts';
import { categoriseLedger, readRules, showChoices, showInactive } from './categorise.ts';
import { LAYOUT_FILE, openLayoutFile } from './layout-file.ts';
import { readLedger } from './ledger-rows.ts';
import {
  describeOptions,
  print,
  showNeeds,
  showPlan,
  showRefused,
  showStatement,
} from './preview.ts';
import { readBytes, readFile } from './read-file.ts';
import { readRecordedImports, writePart } from './recorded-imports.ts';
import { listImports, undoImport } from './undo.ts';
import { applyChanges, upload } from './upload.ts';

const MAX_IMPORT_ID_LENGTH = 64;

const command = createCommand('npm run import --', "Add a bank's file, or an export, to a ledger.")
  .argument('[file]', 'the file')
  .option('--yes', 'import; without it the command only shows what it would do')
  .addOption(
    new Option('--url <url>', 'address of the service')
      .argParser(httpAddress)
      .default(serviceAddress())
      .conflicts('stage'),
  )
  .addOption(stageOption('the deployed stage, such as prod; without it, --url'))
  .option('--date <column>', 'the column of the date: its name, or its number from 1')
  .option('--amount <column>', 'the column of the amount; negative is an expense')
  .addOption(
    new Option('--debit <column>', 'the column of expenses, with --credit').conflicts('amount'),
  )
  .addOption(
    new Option('--credit <column>', 'the column of income, with --debit').conflicts('amount'),
  )
  .option('--invert', 'expenses are positive and income is negative, as on credit cards')
  .option('--description <columns>', 'the columns of the description, with commas between them')
  .option('--fee <column>', 'the column of fees that the amounts do not include; or "none"')
  .option('--notes <column>', 'the column of the notes')
  .option(
    '--category <column>',
    "the column of the category's name; missing categories are created",
  )
  .option(
    '--type <column>',
    'the column with "income" or "expense"; the amount then keeps its sign. "none": by the sign of the amount',
  )
  .option('--income <word>', 'a word for income in the type column; can be repeated', addWord, [])
  .option(
    '--expense <word>',
    'a word for expenses in the type column; can be repeated',
    addWord,
    [],
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
  .option('--skip-duplicates', 'leave possible duplicates out')
  .addOption(
    new Option('--import-duplicates', 'import possible duplicates, too').conflicts(
      'skipDuplicates',
    ),
  )
  .option('--update', 'apply the changes of an edited export')
  .option('--import-deleted', 'import rows that were deleted from the ledger since, too')
  .option('--no-categories', 'learn no categories from earlier rows')
  .option('--rules <file>', 'rules for categories, one a line: text or /expression/ = Category')
  .addOption(
    new Option('--categorise', 'offer categories for rows of the ledger that have none').conflicts([
      'list',
      'undo',
    ]),
  )
  .option('--only-account <name>', 'import only the rows with this account in the file')
  .option('--currency <code>', 'import only the rows in this currency')
  .option('--status-column <column>', 'the column that says whether a row has happened; or "none"')
  .option(
    '--leave-out <word>',
    'a word of the status column whose rows are left out; can be repeated',
    addWord,
    [],
  )
  .option('--encoding <name>', 'the encoding of the file, such as windows-1250')
  .option('--as-it-is', 'import the file as the preview shows it, without further questions')
  .option('--layouts <file>', 'the file that remembers how files are read', LAYOUT_FILE)
  .option('--forget', 'forget how files of this layout are read')
  .addOption(
    new Option(
      '--trailer <lines>',
      'how many lines the bank writes after the rows; they are left out',
    ).argParser(wholeNumber({ min: 0, max: 100 })),
  )
  .addOption(new Option('--list', 'show the imports that the ledger has').conflicts('undo'))
  .option('--undo <id>', 'remove the rows that an import created, except those edited since')
  .addHelpText(
    'after',
    '\nA key is read from API_KEY. Rows that were imported before are not added again: repeat an\ninterrupted import. Exit code 0: all rows are there; 1: some were not imported.',
  )
  .action(start);

await runProgram(command);

type Options = ReturnType<typeof command.opts>;

function addWord(word: string, words: readonly string[]): readonly string[] {
  return [...words, word];
}

async function start(file: string | undefined, options: Options): Promise<void> {
  const { list, undo, categorise, yes = false } = options;
  const isForImports = list || categorise || undo !== undefined;
  if (undo === '') command.error('error: --undo takes the id of an import; --list shows them.');
  if (isForImports && options.update) command.error('error: --update takes a file.');
  if (isForImports === (file !== undefined))
    command.error(
      isForImports
        ? `error: ${list ? '--list' : categorise ? '--categorise' : '--undo'} takes no file.`
        : 'error: Name a file to import, or use --list, --undo <id> or --categorise.',
    );
  const open = async () => {
    const url = options.stage ? await addressOfStage(options.stage) : options.url;
    const key = process.env.API_KEY || undefined;
    const retryPolicy = { ...PATIENT_POLICY, onRetry: explainWait };
    return createServiceClient({ url, key, userAgent: USER_AGENTS.import, retryPolicy });
  };
  if (file !== undefined) return importFile(open, file, options);
  const category = readCategoryOptions(options);
  const service = await open();
  if (categorise) await categoriseLedger(service, { ...category, isConfirmed: yes });
  else if (undo === undefined) await listImports(service);
  else await undoImport(service, undo, { isConfirmed: yes });
}

async function importFile(
  open: () => Promise<ServiceClient>,
  file: string,
  options: Options,
): Promise<void> {
  const bytes = readBytes(file);
  const layouts = openLayoutFile(options.layouts);
  const given = readOptions(options);
  // A file that cannot be read is reported without a service.
  const unaided = layouts.isEmpty ? await readFile(file, bytes, given) : undefined;
  if (unaided && unaided.rows.length + unaided.refused.length + unaided.leftOut.length === 0)
    return console.log('The file has no rows: nothing to import.');
  const service = await open();
  const ledger = `${service.url} ${(await service.call<'identifyCaller'>('GET', '/me')).ledger}`;
  const statement =
    unaided ?? (await readFile(file, bytes, { ...given, layouts: layouts.read(ledger) }));
  const remember = (layout: LayoutOptions | undefined) =>
    statement.layout && layouts.write(ledger, statement.layout.key, layout);
  if (options.forget) {
    remember(undefined);
    return console.log('The layout is forgotten. Nothing was sent.');
  }
  const split = splitTrailer(statement, options.trailer);
  const isImported = await importStatement(service, {
    file,
    options,
    statement: { ...statement, ...split },
  });
  const { used = {}, recalled = null } = statement.layout ?? {};
  if (!isImported || Object.keys(used).length === 0) return;
  remember(used);
  if (JSON.stringify(used) !== JSON.stringify(recalled))
    print(
      `remembered in ${options.layouts} for files of this layout (--forget): ${describeOptions(used)}`,
    );
}

function readOptions(options: Options): StatementOptions {
  const { date, amount, debit, credit, description, notes, category, type, id, fee } = options;
  const { dateOrder, decimal, account, income, expense, encoding, currency, leaveOut } = options;
  return {
    columns: {
      ...{ date, amount, debit, credit, description, notes, category, type, fee },
      externalId: id,
      status: options.statusColumn,
    },
    ...{ dateOrder, decimal, account, encoding, currency, leaveOut },
    isInverted: options.invert,
    isAsItIs: options.asItIs,
    onlyAccount: options.onlyAccount,
    words: { income, expense },
  };
}

interface Import {
  readonly file: string;
  readonly statement: Statement & ReturnType<typeof splitTrailer>;
  readonly options: Options;
}

/** @returns whether rows were sent, or would have been if the ledger had not had them all */
async function importStatement(
  service: ServiceClient,
  { file, statement, options }: Import,
): Promise<boolean> {
  const known = await service.readCategories();
  // Before the rows: see `resolvePendingRecords`.
  const imports = await readRecordedImports(service);
  const stored = { imports, rows: await readLedger(service), categories: known };
  const { rows, plan, choices, names } = planWithCategories(statement, stored, {
    ...readCategoryOptions(options),
    importsDeleted: options.importDeleted === true,
    isAccountKnown: options.account !== undefined || options.asItIs === true,
  });
  showStatement({ ...statement, rows });
  showPlan(plan, new Set(known.map(({ name }) => name)));
  showChoices(choices, ({ line }) => `line ${line}`);
  showInactive(plan.missing, names);
  const { trailer } = statement;
  const needs = [...statement.needs, ...plan.needs];
  const refused = [...statement.refused, ...plan.refused];
  showRefused(refused);
  if (options.trailer) console.log(`left out after the rows: ${trailer.length} lines`);
  else if (trailer.length > 0 && trailer.length === refused.length)
    console.error(
      `If every export from this bank ends with these lines, add --trailer ${trailer.length}.`,
    );
  showNeeds(needs);
  if (refused.length + needs.length > 0) process.exitCode = EXIT.failed;
  if (!options.yes) console.log('Nothing was sent. Add --yes to import.');
  else if (needs.length > 0) console.error('Nothing was imported.');
  else if (requiresChoice(plan, options)) {
    console.error(
      'Nothing was imported. Leave possible duplicates out with --skip-duplicates, or import them with --import-duplicates.',
    );
    process.exitCode = EXIT.failed;
  } else {
    await resolvePendingRecords(stored, {
      readParts: () => readRecordedImports(service),
      writePart: (part) => writePart(service, part),
    });
    await run(service, plan, { file, options, refusedBefore: refused.length });
    return true;
  }
  return false;
}

function readCategoryOptions({ categories, rules }: Options): CategoryOptions {
  return { isLearning: categories, rules: readRules(rules) };
}

/** Holds the time and the file's name, within the 64 characters of the API. */
function newImportId(file: string): string {
  const time = new Date().toISOString().slice(0, 19).replace('T', '-').replaceAll(':', '');
  const name = basename(file).replace(/[^\p{L}\p{N}._-]+/gu, '-');
  return [...`${time}-${name}`].slice(0, MAX_IMPORT_ID_LENGTH).join('');
}

function requiresChoice({ possibleDuplicates }: ImportPlan, options: Options): boolean {
  const { skipDuplicates, importDuplicates } = options;
  return possibleDuplicates.length > 0 && !skipDuplicates && !importDuplicates;
}

interface Run {
  readonly file: string;
  readonly options: Options;
  readonly refusedBefore: number;
}

async function run(
  service: ServiceClient,
  plan: ImportPlan,
  { file, options, refusedBefore }: Run,
): Promise<void> {
  const { changes, missing, deleted, possibleDuplicates, present } = plan;
  const skipped = new Set<StatementRow>(
    options.skipDuplicates ? possibleDuplicates.map(({ row }) => row) : [],
  );
  const rows = missing.filter((row) => !skipped.has(row));
  const importId = newImportId(file);
  const total = rows.length;
  const recorder = createRecorder({ importId, total }, (part) => writePart(service, part));
  const uploaded = await withBar(total, (onProgress) =>
    upload(service, { rows, importId, recorder }, onProgress),
  );
  const updated = options.update
    ? await withBar(changes.length, (onProgress) => applyChanges(service, changes, onProgress))
    : undefined;
  const refused = [...uploaded.refused, ...(updated?.refused ?? [])];
  showRefused(refused);
  if (skipped.size > 0) console.log(`possible duplicates left out: ${skipped.size}`);
  if (deleted.length > 0) {
    console.log(`deleted meanwhile: ${deleted.length}. Add --import-deleted to import them.`);
    // A row that was deleted by hand stays deleted when an overlapping file brings it again: nothing is missing.
    if (deleted.some(({ exported }) => exported)) process.exitCode = EXIT.failed;
  }
  if (updated) console.log(`${updated.changed} changed`);
  else if (changes.length > 0) {
    console.log(`changes not applied: ${changes.length}. Add --update to apply them.`);
    process.exitCode = EXIT.failed;
  }
  if (uploaded.created > 0) console.log(`import ${importId}: --undo ${importId} takes it back`);
  console.log(
    `${uploaded.created} created, ${present + uploaded.duplicates} were there already, ${refused.length + refusedBefore} refused`,
  );
  if (refused.length > 0) process.exitCode = EXIT.failed;
}

/** The command waits longer and longer; nothing is lost. */
function explainWait(error: unknown): void {
  const { status } = error as { status?: number };
  const why = status === undefined ? 'Nothing answers' : `The service answered ${status}`;
  console.error(`${why}: trying again in a moment`);
}
