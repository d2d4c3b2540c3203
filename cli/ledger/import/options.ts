// The options of `npm run import`, and which options each use of the command accepts.
import { Option } from '@commander-js/extra-typings';
import { DECIMAL_SEPARATORS } from '../../../lib/ledger/import/amounts.ts';
import { DATE_ORDERS } from '../../../lib/ledger/import/dates.ts';
import type { StatementOptions } from '../../../lib/ledger/import/statement.ts';
import {
  createCommand,
  createNumberParser,
  createStageOption,
  parseHttpAddress,
} from '../../../processes/program.ts';
import { readLocalAddress } from '../service-client.ts';
import { LAYOUT_FILE } from './layout-file.ts';

export const command = createCommand(
  'npm run import --',
  "Add a bank's file, or an export, to a ledger.",
)
  .argument('[file]', 'the file')
  .option('--yes', 'import; without it the command only shows what it would do')
  .addOption(
    new Option('--url <url>', 'address of the service')
      .argParser(parseHttpAddress)
      .default(readLocalAddress())
      .conflicts('stage'),
  )
  .addOption(createStageOption('the deployed stage, such as prod; without it, --url'))
  .option('--date <column>', 'the date column: its name, or its number from 1')
  .option('--amount <column>', 'the amount column; negative amounts are expenses')
  .addOption(
    new Option('--debit <column>', 'the expense column, with --credit').conflicts('amount'),
  )
  .addOption(new Option('--credit <column>', 'the income column, with --debit').conflicts('amount'))
  .option('--invert', 'expenses are positive and income is negative, as on credit cards')
  .option('--description <columns>', 'the description columns, separated by commas')
  .option('--fee <column>', 'the column with fees that the amounts do not include; or "none"')
  .option('--notes <column>', 'the notes column')
  .option(
    '--category <column>',
    'the column with the name of the category; missing categories are created',
  )
  .option(
    '--type <column>',
    'the column with "income" or "expense"; the amount then keeps its sign. "none": the sign of the amount decides',
  )
  .option('--income <word>', 'a word for income in the type column; can be repeated', addWord, [])
  .option(
    '--expense <word>',
    'a word for expenses in the type column; can be repeated',
    addWord,
    [],
  )
  .option(
    '--id <column>',
    "the column with the bank's id; without it an id is created from the row",
  )
  .addOption(new Option('--date-order <order>', 'how dates are written').choices(DATE_ORDERS))
  .addOption(
    new Option('--decimal <sign>', 'the decimal sign of the amounts').choices(DECIMAL_SEPARATORS),
  )
  .option(
    '--account <name>',
    'a name for the account, the same each time: part of the ids created from rows, so that equal rows of two accounts are two transactions',
  )
  .option('--skip-duplicates', 'leave possible duplicates out')
  .addOption(
    new Option('--import-duplicates', 'also import possible duplicates').conflicts(
      'skipDuplicates',
    ),
  )
  .option('--update', 'apply the changes of an edited export')
  .option('--import-deleted', 'also import rows that have been deleted from the ledger')
  .option('--no-categories', 'learn no categories from earlier rows')
  .option('--rules <file>', 'rules for categories, one per line: text or /expression/ = Category')
  .option('--categorise', 'propose categories for rows of the ledger that have none')
  .option('--only-account <name>', 'import only the rows with this account in the file')
  .option('--currency <code>', 'import only the rows in this currency')
  .option('--status-column <column>', 'the column that says whether a row has happened; or "none"')
  .option(
    '--leave-out <word>',
    'leave out rows with this word in the status column; can be repeated',
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
    ).argParser(createNumberParser({ min: 0, max: 100 })),
  )
  .option('--list', 'show the imports in the ledger')
  .option('--undo <id>', 'remove the rows that an import created, except those edited since')
  .addHelpText(
    'after',
    '\nA key is read from API_KEY. Rows that were imported before are not added again: repeat an\ninterrupted import. Exit code 0: all rows are there; 1: some were not imported.',
  );

export type Options = ReturnType<typeof command.opts>;

function addWord(word: string, words: readonly string[]): readonly string[] {
  return [...words, word];
}

/** Uses of the command other than an import; each function says whether the use accepts an option other than the address. */
const OTHER_USES: Readonly<Record<string, (option: string) => boolean>> = {
  list: () => false,
  undo: (option) => option === 'yes',
  categorise: (option) => ['yes', 'categories', 'rules'].includes(option),
  // Reads the file to find its layout, but sends nothing.
  forget: (option) => !SENDING_OPTIONS.has(option),
};
const SENDING_OPTIONS: ReadonlySet<string> = new Set([
  ...(['yes', 'update', 'importDeleted', 'skipDuplicates', 'importDuplicates'] as const),
  ...(['categories', 'rules', 'list', 'undo', 'categorise'] as const),
]);
const ADDRESS_OPTIONS: readonly string[] = ['url', 'stage'];

/** Ends the program if an option would be ignored: a user who gives an option expects it to have an effect. */
export function refuseUnusedOptions(): void {
  const givenOptions = command.options.filter(
    (option) => command.getOptionValueSource(option.attributeName()) === 'cli',
  );
  const useOption = givenOptions.find((option) =>
    Object.hasOwn(OTHER_USES, option.attributeName()),
  );
  const accepts = OTHER_USES[useOption?.attributeName() ?? ''];
  const unusedOption = givenOptions.find((option) => {
    const name = option.attributeName();
    return option !== useOption && !ADDRESS_OPTIONS.includes(name) && !accepts?.(name);
  });
  if (useOption && unusedOption)
    command.error(
      `error: ${useOption.long} does nothing with ${unusedOption.long}. Give one of them.`,
    );
}

export function readOptions(options: Options): StatementOptions {
  const { date, amount, debit, credit, description, notes, category, type, id, fee } = options;
  const { dateOrder, decimal, account, income, expense, encoding, currency, leaveOut } = options;
  return {
    columns: {
      ...{ date, amount, debit, credit, description, notes, category, type, fee },
      externalId: id,
      status: options.statusColumn,
    },
    ...{ dateOrder, decimal, encoding, currency, leaveOut },
    account: account?.trim() || undefined,
    isInverted: options.invert,
    isPreviewAccepted: options.asItIs,
    onlyAccount: options.onlyAccount,
    words: { income, expense },
  };
}
