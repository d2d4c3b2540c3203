// docs/migration/seen.md is generated from a table, and the tests that it names exist. `npx vitest run seen --update` writes it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { OBSERVATIONS, renderPage } from '../../support/seen.ts';

const TESTS = join(import.meta.dirname, '../..');

it('the page is generated from the table', async () => {
  const page = join(import.meta.dirname, '../../../../docs/migration/seen.md');
  await expect(renderPage()).toMatchFileSnapshot(page);
});

it.each(OBSERVATIONS.filter(({ test }) => test))(
  'a test shows: $behaviour',
  ({ test: [file, title] = ['', ''], date, on }) => {
    expect(readFileSync(join(TESTS, file), 'utf8')).toContain(title);
    expect([date, on]).toEqual([
      expect.stringMatching(/\d{4}-\d\d-\d\d$/),
      expect.stringMatching(/\d\.\d/),
    ]);
  },
);
