// Every situation in docs/migration/situations.md names an existing test, by file and a part of the title.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const PAGE = join(import.meta.dirname, '../../../docs/migration/situations.md');
const STEPS = join(import.meta.dirname, '../contract/steps');
const COMMENT = /^\s*(\/\/|\/?\*)/;

const ROWS = readFileSync(PAGE, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) => line.slice(1, -1).split('|'));

describe('situations', () => {
  it('are at least forty, all different', () => {
    expect(ROWS.length).toBeGreaterThanOrEqual(40);
    expect(new Set(ROWS.map(([situation]) => situation)).size).toBe(ROWS.length);
  });

  it.each(ROWS)('name a test: %s', (_, happens, shownBy = '') => {
    expect(happens).toMatch(/\S/);
    const [, file = '', title = ''] = shownBy.match(/^`([^`]+)`, "([^"]+)"$/) ?? [];
    expect([file, title], `"${shownBy}" names no file with a title`).not.toContain('');
    const lines = readFileSync(join(STEPS, file), 'utf8').split('\n');
    const titled = lines.filter((line) => line.includes(title) && !COMMENT.test(line));
    expect(titled, `No test of ${file} is about "${title}"`).not.toEqual([]);
  });
});
