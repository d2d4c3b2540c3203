// Every message of `npm run import` that names an option gives right advice: a person who follows it succeeds.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Ended } from '../../shared/support/command.ts';
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
async function run(person: Person, ...args: readonly string[]): Promise<Ended> {
  const paths = args.map((each) => {
    const lines = Object.entries(FILES).find(([name]) => name === each)?.[1];
    return lines ? person.write(each, lines) : each;
  });
  return await person.run(...(await Promise.all(paths)));
}

type Words = readonly string[];

interface Case {
  readonly says: string;
  /** Commands that are run before the one that prints the message */
  readonly after?: readonly Words[];
  readonly command: Words;
  readonly advice: Words;
  readonly ends: string;
  /** @returns the path of EXPORT */
  readonly given?: (person: Person) => Promise<unknown>;
}

const IMPORTED = [['bank.csv', '--yes']];
const CASES: readonly Case[] = [
  {
    says: 'Nothing was sent. Add --yes',
    command: ['bank.csv'],
    advice: ['bank.csv', '--yes'],
    ends: '2 created',
  },
  {
    says: 'add --trailer 1',
    command: ['trailer.csv'],
    advice: ['trailer.csv', '--trailer', '1', '--yes'],
    ends: '2 created',
  },
  ...['--skip-duplicates', '--import-duplicates'].map((option) => ({
    says: option,
    after: IMPORTED,
    command: ['alike.csv', '--yes'],
    advice: ['alike.csv', '--yes', option],
    ends: option === '--skip-duplicates' ? '0 created' : '1 created',
  })),
  ...['(1), imported with --import-deleted', 'deleted meanwhile: 1. Add --import-deleted'].map(
    (says) => ({
      says,
      after: IMPORTED,
      given: async (person: Person) =>
        person.api.delete(`/transactions/${(await person.findRow('Tea')).id}`),
      command: ['bank.csv', '--yes'],
      advice: ['bank.csv', '--yes', '--import-deleted'],
      ends: '1 created',
    }),
  ),
  ...['(1), applied with --update', 'changes not applied: 1. Add --update'].map((says) => ({
    says,
    after: IMPORTED,
    given: async (person: Person) => {
      const { text } = await person.api.request('GET', '/transactions/export');
      return await person.write('export.csv', [text.replace(',Tea,', ',Mint,')]);
    },
    command: ['EXPORT', '--yes'],
    advice: ['EXPORT', '--yes', '--update'],
    ends: '1 changed',
  })),
  {
    says: ': --undo ',
    command: ['bank.csv', '--yes'],
    advice: ['--undo', 'IMPORT', '--yes'],
    ends: '2 removed, 0 left',
  },
  {
    says: 'Nothing was removed. Add --yes',
    after: IMPORTED,
    command: ['--undo', 'IMPORT'],
    advice: ['--undo', 'IMPORT', '--yes'],
    ends: '2 removed, 0 left',
  },
  {
    says: '--list shows the imports that it has',
    after: IMPORTED,
    command: ['--undo', 'unknown'],
    advice: ['--list'],
    ends: '2 rows',
  },
  {
    says: '(--forget)',
    command: ['card.csv', '--invert', '--yes'],
    advice: ['card.csv', '--forget'],
    ends: 'The layout is forgotten',
  },
  {
    says: 'name another with --layouts FILE',
    command: ['bank.csv', '--layouts', 'broken.json'],
    advice: ['bank.csv', '--layouts', 'new.json'],
    ends: '2 rows',
  },
  {
    says: 'unless --rules FILE has a line',
    after: [['grocer.csv', '--yes']],
    command: ['next.csv'],
    advice: ['next.csv', '--rules', 'rules.txt', '--yes'],
    ends: '1 by rules, 0 without one',
  },
  {
    says: 'Make it active first, or leave categories out with --category none',
    given: async ({ api }) => api.post('/categories', { name: 'Food', is_active: false }),
    command: ['bank.csv'],
    advice: ['bank.csv', '--category', 'none', '--yes'],
    ends: '2 created',
  },
  {
    says: 'none of them like earlier rows. Give rules with --rules FILE',
    after: [['next.csv', '--yes']],
    command: ['--categorise'],
    advice: ['--categorise', '--rules', 'rules.txt', '--yes'],
    ends: '1 row categorised, 0 refused',
  },
  {
    says: 'Nothing was changed. Add --yes to set them.',
    after: [
      ['next.csv', '--yes'],
      ['grocer.csv', '--yes'],
    ],
    command: ['--categorise'],
    advice: ['--categorise', '--yes'],
    ends: '1 row categorised, 0 refused',
  },
  ...[['bank.csv'], ['--list'], ['--undo', 'IMPORT'], ['--categorise']].map((advice) => ({
    says: 'Name a file to import, or use --list, --undo <id> or --categorise',
    after: IMPORTED,
    command: [],
    advice,
    ends: '',
  })),
  ...['--list', '--categorise'].map((option) => ({
    says: `${option} takes no file`,
    command: [option, 'bank.csv'],
    advice: [option],
    ends: '',
  })),
  {
    says: '--undo takes the id of an import; --list shows them',
    after: IMPORTED,
    command: ['--undo', ''],
    advice: ['--list'],
    ends: '2 rows',
  },
  {
    says: '--forget does nothing with --yes. Give one of them.',
    command: ['bank.csv', '--forget', '--yes'],
    advice: ['bank.csv', '--yes'],
    ends: '2 created',
  },
];

const heard: string[] = [];

it.each(CASES)('"$says" is right (%#)', async ({ says, after = [], command, ...rest }) => {
  const person = await givenPerson(table);
  let [importId, exported] = ['', ''];
  const take = async (words: Words) => {
    const named = words.map((word) => (word === 'IMPORT' ? importId : word));
    const paths = named.map((word) => (word === 'EXPORT' ? exported : word));
    const ended = await run(person, ...paths);
    importId = findImportId(ended) || importId;
    return ended;
  };
  for (const words of after) expect(await take(words)).toMatchObject({ code: 0 });
  exported = String(await rest.given?.(person));
  const { stdout, stderr } = await take(command);
  heard.push(stdout + stderr);
  expect(stdout + stderr).toContain(says);
  const ended = await take(rest.advice);
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining(rest.ends) });
});

it('has a case for every message of the command that names an option', async () => {
  const person = await givenPerson(table);
  const help = (await person.run('--help')).stdout;
  const untried = listAdvice(join(import.meta.dirname, '../../../cli/ledger/import')).filter(
    (text) =>
      !text.startsWith('npm took --yes') &&
      ![...heard, help].some((message) => toPattern(text).test(message)),
  );
  // The message about options that npm takes for itself is left out: the tests of the command cover it.
  expect(untried).toEqual([]);
});
