// Finds mutants that a change elsewhere has made meaningless.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { applyMutant, MUTANTS } from '../mutants/mutants.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';

const PROJECT = join(import.meta.dirname, '../../..');
const BIOME = join(PROJECT, 'node_modules/@biomejs/biome/bin/biome');

function readSource(file: string): string {
  return readFileSync(join(PROJECT, file), 'utf8');
}

it('the search text of each mutant occurs exactly once in its file', () => {
  const stale = MUTANTS.filter(({ file, search }) => readSource(file).split(search).length !== 2);
  expect(stale).toEqual([]);
});

// Such a mutant throws a ReferenceError, which fails almost any test and proves nothing.
it('no mutant uses a name that its file does not declare', async () => {
  const folder = await createTemporaryFolder();
  for (const [index, mutant] of MUTANTS.entries()) {
    const path = join(folder, String(index), mutant.file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, applyMutant(readSource(mutant.file), mutant));
  }
  // The folder may be inside another project with settings.
  writeFileSync(join(folder, 'biome.json'), JSON.stringify({ root: true }));
  const args = [BIOME, 'lint', '--only=correctness/noUndeclaredVariables', '--colors=off'];
  // In the folder, because Biome reads the settings of its working directory.
  const { status, stderr, stdout } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  expect(stdout).toMatch(/^Checked \d{3,} files/);
});
