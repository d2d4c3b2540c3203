// Applies each mutant in a copy of the project and runs the test that must fail for it.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MUTANTS, type Mutant } from './mutants.ts';

const PROJECT = join(import.meta.dirname, '../..');
const COPIES = 2;

/** Outcome of a test file: `passed` only when a test ran and none failed. */
type Outcome = 'passed' | 'failed' | 'broken';

let survivors = 0;

assertApplicable();
const copies = await Promise.all(Array.from({ length: COPIES }, createCopy));
try {
  await eachInACopy(new Set(MUTANTS.map(({ test }) => test)), async (test, copy) => {
    const { outcome, failures } = await runTest(copy, test);
    if (outcome !== 'passed')
      throw new Error([`${test} is ${outcome} without a mutant`, ...failures].join('\n'));
  });
  await eachInACopy(MUTANTS, tryMutant);
} finally {
  for (const copy of copies) await rm(copy, { recursive: true, force: true });
}
console.log(`${MUTANTS.length - survivors} passed, ${survivors} failed`);
if (survivors > 0) process.exitCode = 1;

/** @throws when the search text of a mutant is not in its file exactly once */
function assertApplicable(): void {
  const stale = MUTANTS.filter(({ file, search }) => {
    return readFileSync(join(PROJECT, file), 'utf8').split(search).length !== 2;
  });
  if (stale.length === 0) return;
  const lines = stale.map(({ file, search }) => `  ${file}: ${JSON.stringify(search)}`);
  throw new Error(`Not exactly once in its file:\n${lines.join('\n')}`);
}

async function tryMutant({ file, search, replacement, test }: Mutant, copy: string): Promise<void> {
  const path = join(copy, file);
  const source = await readFile(path, 'utf8');
  await writeFile(
    path,
    source.replace(search, () => replacement),
  );
  const { outcome } = await runTest(copy, test);
  await writeFile(path, source);
  // A mutant that keeps the test from running proves nothing.
  const isKilled = outcome === 'failed';
  if (!isKilled) survivors += 1;
  const change = `${JSON.stringify(search)} -> ${JSON.stringify(replacement)}`;
  console.log(`${isKilled ? 'killed  ' : `SURVIVED (${outcome})`} ${file}: ${change} by ${test}`);
}

async function eachInACopy<Item>(
  items: Iterable<Item>,
  act: (item: Item, copy: string) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const work = async (copy: string) => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await act(item, copy);
  };
  await Promise.all(copies.map(work));
}

async function createCopy(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'mutants-'));
  const names = (await readdir(PROJECT)).filter((name) => !name.startsWith('.'));
  for (const name of names) {
    if (name === 'node_modules') await symlink(join(PROJECT, name), join(copy, name));
    else await cp(join(PROJECT, name), join(copy, name), { recursive: true });
  }
  return copy;
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly failureMessages: readonly string[] }[];
  }[];
}

async function runTest(copy: string, test: string) {
  const vitest = join(PROJECT, 'node_modules/vitest/vitest.mjs');
  const report = join(copy, 'report.json');
  const options = ['--bail=1', '--reporter=json', `--outputFile=${report}`];
  const child = spawn(process.execPath, [vitest, 'run', test, ...options], {
    cwd: copy,
    stdio: 'ignore',
  });
  await new Promise((resolve) => child.once('close', resolve));
  const results: Report = JSON.parse(await readFile(report, 'utf8'));
  await rm(report);
  const { numPassedTests, numFailedTests, testResults } = results;
  const outcome: Outcome = numFailedTests > 0 ? 'failed' : numPassedTests > 0 ? 'passed' : 'broken';
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  return { outcome, failures: tests.flatMap(({ failureMessages }) => failureMessages) };
}
