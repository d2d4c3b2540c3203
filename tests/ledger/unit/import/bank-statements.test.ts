// Statements in the layouts of banks and apps, with made-up rows. Each is read without an option, or stops with a reason.
// For a new layout, add a file and a line in expected.tsv. Each case-*.csv has one peculiarity that belongs to no particular bank.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readStatement, type Statement } from '../../../../lib/ledger/import/statement.ts';
import { UserError } from '../../../../lib/shared/user-error.ts';

const FOLDER = join(import.meta.dirname, 'statements');
const EXPECTED = readFileSync(join(FOLDER, 'expected.tsv'), 'utf8')
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split('\t') as [file: string, ...figures: string[]]);
const STOPS = 'stops';

function summarize({ rows, refused, questions }: Statement) {
  const sum = (direction: string) =>
    rows.reduce(
      (total, { type, amount }) => total + (type === direction ? Math.round(amount * 100) : 0),
      0,
    );
  const figures = [rows.length, sum('income'), sum('expense')].map(String);
  return { figures, refused, questions: questions.map(({ topic }) => topic) };
}

it.each(EXPECTED)('the importer reads %s as expected', async (file, ...figures) => {
  const statement = readStatement(readFileSync(join(FOLDER, file)), { today: '2026-11-25' });
  const result = await statement.then(summarize, (error: unknown) => error);
  if (figures[0] !== STOPS) expect(result).toEqual({ figures, refused: [], questions: [] });
  // The reason for stopping names an option that helps.
  else if (result instanceof UserError) expect(result.message).toContain('--');
  else expect(result).toMatchObject({ questions: [expect.any(String)] });
});

it('expected.tsv has a line for each file', () => {
  const files = readdirSync(FOLDER).filter((file) => file !== 'expected.tsv');
  expect(EXPECTED.map(([file]) => file).toSorted()).toEqual(files.toSorted());
});
