// Every message of `npm run import` that names an option gives correct advice: a person who follows it succeeds.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { CommandResult } from '../../shared/support/command.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { listAdvice, toPattern } from '../support/import/messages.ts';
import { findImportId, givenPerson } from '../support/import/person.ts';

const table = await createTestTable();

type Person = Awaited<ReturnType<typeof givenPerson>>;

const HEADER = 'date,description,amount,category';
const FILES = {
  'bank.csv': [HEADER, '2026-03-05,Tea,-3,Food', '2026-03-06,Pay,2500,'],
  'alike.csv': [HEADER, '2026-03-05,Green tea,-3,'],
  'trailer.csv': [HEADER, '2026-03-05,Tea,-3,Food', '2026-03-06,Pay,2500,', 'Stand,today'],
  'card.csv': ['Date,Text,Amount', '2026-01-05,Grocer,10.00', '2026-01-06,Cinema,9.00'],
  'grocer.csv': [HEADER, '2026-01-05,GROCER MAIN,-1,Food', '2026-01-12,GROCER MAIN,-2,Food'],
  'next.csv': [HEADER, '2026-02-05,GROCER MAIN,-4,', '2026-02-06,CINEMA,-9,'],
  'rules.txt': ['cinema = Fun', 'tea = Fun', 'pay = Work'],
  'broken.json': ['{"cut'],
} as const;

/** Runs the command, with paths instead of the names of files in FILES. */
async function runWithFiles(person: Person, ...args: readonly string[]): Promise<CommandResult> {
  const paths = args.map((each) => {
    const lines = Object.entries(FILES).find(([name]) => name === each)?.[1];
    return lines ? person.write(each, lines) : each;
  });
  return await person.run(...(await Promise.all(paths)));
}

type Args = readonly string[];

interface Case {
  /** A part of the message that gives the advice */
  readonly message: string;
  /** Commands that are run before the one that prints the message */
  readonly previous?: readonly Args[];
  readonly command: Args;
  /** The command that the message advises */
  readonly advice: Args;
  /** A part of the output of the advised command */
  readonly expected: string;
  /** Prepares the ledger. @returns the path of EXPORT, if the command has it */
  readonly prepare?: (person: Person) => Promise<unknown>;
}

const IMPORTED = [['bank.csv', '--yes']];
const CASES: readonly Case[] = [
  {
    message: 'Nothing was sent. Add --yes',
    command: ['bank.csv'],
    advice: ['bank.csv', '--yes'],
    expected: '2 created',
  },
  {
    message: 'add --trailer 1',
    command: ['trailer.csv'],
    advice: ['trailer.csv', '--trailer', '1', '--yes'],
    expected: '2 created',
  },
  ...['--skip-duplicates', '--import-duplicates'].map((option) => ({
    message: option,
    previous: IMPORTED,
    command: ['alike.csv', '--yes'],
    advice: ['alike.csv', '--yes', option],
    expected: option === '--skip-duplicates' ? '0 created' : '1 created',
  })),
  ...[
    '(1), imported only with --import-deleted',
    'deleted in the ledger: 1. Add --import-deleted',
  ].map((message) => ({
    message,
    previous: IMPORTED,
    prepare: async (person: Person) =>
      person.api.delete(`/transactions/${(await person.findRow('Tea')).id}`),
    command: ['bank.csv', '--yes'],
    advice: ['bank.csv', '--yes', '--import-deleted'],
    expected: '1 created',
  })),
  ...['(1), applied only with --update', 'changes not applied: 1. Add --update'].map((message) => ({
    message,
    previous: IMPORTED,
    prepare: async (person: Person) => {
      const { text } = await person.api.request('GET', '/transactions/export');
      return await person.write('export.csv', [text.replace(',Tea,', ',Mint,')]);
    },
    command: ['EXPORT', '--yes'],
    advice: ['EXPORT', '--yes', '--update'],
    expected: '1 changed',
  })),
  {
    message: ': --undo ',
    command: ['bank.csv', '--yes'],
    advice: ['--undo', 'IMPORT', '--yes'],
    expected: '2 removed, 0 left',
  },
  {
    message: 'Nothing was removed. Add --yes',
    previous: IMPORTED,
    command: ['--undo', 'IMPORT'],
    advice: ['--undo', 'IMPORT', '--yes'],
    expected: '2 removed, 0 left',
  },
  {
    message: '--list shows the imports in it',
    previous: IMPORTED,
    command: ['--undo', 'unknown'],
    advice: ['--list'],
    expected: '2 rows',
  },
  {
    message: '(--forget)',
    command: ['card.csv', '--invert', '--yes'],
    advice: ['card.csv', '--forget'],
    expected: 'The layout is forgotten',
  },
  {
    message: 'name another with --layouts FILE',
    command: ['bank.csv', '--layouts', 'broken.json'],
    advice: ['bank.csv', '--layouts', 'new.json'],
    expected: '2 rows',
  },
  {
    message: 'unless --rules FILE has a line',
    previous: [['grocer.csv', '--yes']],
    command: ['next.csv'],
    advice: ['next.csv', '--rules', 'rules.txt', '--yes'],
    expected: '1 by rules, 0 without a category',
  },
  {
    message: 'Make it active first, or leave categories out with --category none',
    prepare: async ({ api }) => api.post('/categories', { name: 'Food', is_active: false }),
    command: ['bank.csv'],
    advice: ['bank.csv', '--category', 'none', '--yes'],
    expected: '2 created',
  },
  {
    message: 'none of them like earlier rows. Give rules with --rules FILE',
    previous: [['next.csv', '--yes']],
    command: ['--categorise'],
    advice: ['--categorise', '--rules', 'rules.txt', '--yes'],
    expected: '1 row categorised, 0 refused',
  },
  {
    message: 'Nothing was changed. Add --yes to set them.',
    previous: [
      ['next.csv', '--yes'],
      ['grocer.csv', '--yes'],
    ],
    command: ['--categorise'],
    advice: ['--categorise', '--yes'],
    expected: '1 row categorised, 0 refused',
  },
  ...[['bank.csv'], ['--list'], ['--undo', 'IMPORT'], ['--categorise']].map((advice) => ({
    message: 'Name a file to import, or use --list, --undo <id> or --categorise',
    previous: IMPORTED,
    command: [],
    advice,
    expected: '',
  })),
  ...['--list', '--categorise'].map((option) => ({
    message: `${option} takes no file`,
    command: [option, 'bank.csv'],
    advice: [option],
    expected: '',
  })),
  {
    message: '--undo takes the id of an import; --list shows them',
    previous: IMPORTED,
    command: ['--undo', ''],
    advice: ['--list'],
    expected: '2 rows',
  },
  {
    message: '--forget does nothing with --yes. Give one of them.',
    command: ['bank.csv', '--forget', '--yes'],
    advice: ['bank.csv', '--yes'],
    expected: '2 created',
  },
];

const messages: string[] = [];

it.each(CASES)(
  'the advice "$message" is correct (%#)',
  async ({ message, previous = [], command, ...rest }) => {
    const person = await givenPerson(table);
    let [importId, exportPath] = ['', ''];
    const runCommand = async (args: Args) => {
      const argsWithImportId = args.map((arg) => (arg === 'IMPORT' ? importId : arg));
      const paths = argsWithImportId.map((arg) => (arg === 'EXPORT' ? exportPath : arg));
      const result = await runWithFiles(person, ...paths);
      importId = findImportId(result) || importId;
      return result;
    };
    for (const args of previous) expect(await runCommand(args)).toMatchObject({ code: 0 });
    exportPath = String(await rest.prepare?.(person));
    const { stdout, stderr } = await runCommand(command);
    messages.push(stdout + stderr);
    expect(stdout + stderr).toContain(message);
    const result = await runCommand(rest.advice);
    expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining(rest.expected) });
  },
);

it('every message of the command that names an option has a case', async () => {
  const person = await givenPerson(table);
  const help = (await person.run('--help')).stdout;
  const untested = listAdvice(join(import.meta.dirname, '../../../cli/ledger/import')).filter(
    (text) =>
      !text.startsWith('npm took --yes') &&
      ![...messages, help].some((message) => toPattern(text).test(message)),
  );
  // The message about options that npm consumes is left out: import-command.full.test.ts covers it.
  expect(untested).toEqual([]);
});
