// Applies each mutant in a copy of the project and runs the test that must fail for it.
import { rmSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from '@commander-js/extra-typings';
import { createVitest, type PoolOptions, type TestModule, type Vitest } from 'vitest/node';
import { LastingWorker } from './lasting-worker.ts';
import { applyMutant, MUTANTS, type Mutant } from './mutants.ts';

const PROJECT = join(import.meta.dirname, '../../..');

/** Number of runs after which the worker is replaced: each run loads the modules of the project into its memory again. */
const MAX_RUNS = 50;

/** Outcome of a test file: `passed` only when a test ran and none failed. */
type Outcome = 'passed' | 'failed' | 'broken';

const { args: pathParts } = new Command('npm run test:mutants --')
  .description('Break one rule at a time: a test must fail each time.')
  .argument('[parts...]', 'parts of the paths of sources or tests, such as lib/ledger/http')
  .parse();
const selected = MUTANTS.filter(
  (mutant) => pathParts.length === 0 || pathParts.some((part) => isSelectedBy(part, mutant)),
);
const survivors: string[] = [];
let worker: LastingWorker | undefined;
/** Results of earlier runs: Vitest returns the previous result again for a file that a run could not start. */
const earlierResults = new WeakSet<TestModule>();

assertEachPartSelects();
const copy = await createCopy();
// Tests, and the programs that they start, use relative paths.
process.chdir(copy);
const vitest = await startVitest();
try {
  await runGlobalSetups();
  // Sorted, because the tests of a folder can run in the same worker.
  const sorted = selected.toSorted((a, b) => a.test.localeCompare(b.test));
  for (const [test, mutantsOfTest] of Map.groupBy(sorted, (mutant) => mutant.test)) {
    for (const [testName, mutants] of Map.groupBy(mutantsOfTest, (mutant) => mutant.testName)) {
      for (const mutant of mutants) await tryMutant(mutant);
      // Last, in the same worker: nothing that the mutants left behind in it may make a test fail.
      await assertPassing(test, testName);
    }
    if (worker !== undefined && worker.runs > MAX_RUNS) await worker.end();
  }
} finally {
  await vitest.close();
  await worker?.end();
}
// Repeated here, because CI shows only the last lines of a failed step.
for (const survivor of survivors) console.log(survivor);
console.log(`${selected.length - survivors.length} passed, ${survivors.length} failed`);
// Vitest has set the exit code to 1 for the tests that failed as they should.
process.exitCode = survivors.length > 0 ? 1 : 0;

function isSelectedBy(part: string, { file, test }: Mutant): boolean {
  return file.includes(part) || test.includes(part);
}

/** @throws when one of the parts selects no mutant */
function assertEachPartSelects(): void {
  const unmatchedPart = pathParts.find(
    (part) => !selected.some((mutant) => isSelectedBy(part, mutant)),
  );
  if (unmatchedPart !== undefined)
    throw new Error(`No mutant has a source or test whose path contains ${unmatchedPart}`);
}

async function tryMutant(mutant: Mutant): Promise<void> {
  const { file, search, replacement, test, testName } = mutant;
  const source = await readFile(join(copy, file), 'utf8');
  await rewrite(file, applyMutant(source, mutant));
  const outcome = decideOutcome(await runTest(test, testName));
  await rewrite(file, source);
  // A mutant that stops the test file from running proves nothing.
  const isKilled = outcome === 'failed';
  const mutation = `${JSON.stringify(search)} -> ${JSON.stringify(replacement)}`;
  const line = `${isKilled ? 'killed  ' : `SURVIVED (${outcome})`} ${file}: ${mutation} by ${test}`;
  console.log(line);
  if (!isKilled) survivors.push(line);
}

async function rewrite(file: string, source: string): Promise<void> {
  await writeFile(join(copy, file), source);
  vitest.invalidateFile(join(copy, file));
}

async function createCopy(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mutants-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  const names = (await readdir(PROJECT)).filter((name) => !name.startsWith('.'));
  for (const name of names) {
    if (name === 'node_modules') await symlink(join(PROJECT, name), join(folder, name));
    else await cp(join(PROJECT, name), join(folder, name), { recursive: true });
  }
  return folder;
}

/** Starts one Vitest for all runs, so that global setups run once. */
async function startVitest(): Promise<Vitest> {
  const pool = { name: 'lasting', createPoolWorker };
  const started = await createVitest({ root: copy, watch: false, bail: 1, reporters: [{}], pool });
  await started.standalone();
  return started;
}

function createPoolWorker(options: PoolOptions): LastingWorker {
  if (worker?.canRun(options.project)) return worker;
  void worker?.end();
  worker = new LastingWorker(options);
  return worker;
}

/** Runs one test of each kind without a mutant, because the global setups of a kind run only once, and read the sources. */
async function runGlobalSetups(): Promise<void> {
  const mutantByKind = new Map(selected.map((mutant) => [mutant.test.split('/')[2], mutant]));
  for (const { test, testName } of mutantByKind.values()) await runTest(test, testName);
}

/** @throws when the test does not pass without a mutant, or does not exist */
async function assertPassing(test: string, testName: string | undefined): Promise<void> {
  if (decideOutcome(await runTest(test, testName)) === 'passed') return;
  const title = testName === undefined ? test : `${test} > ${testName}`;
  throw new Error(`This test does not exist, or does not pass without a mutant: ${title}`);
}

/**
 * Runs a test file, or only its tests with the name.
 * @returns undefined if the file did not start
 */
async function runTest(
  test: string,
  testName: string | undefined,
): Promise<TestModule | undefined> {
  const testNames = testName === undefined ? {} : { testNames: [testName] };
  const specifications = await vitest.globTestSpecifications([test]);
  const { testModules } = await vitest.runTestSpecifications(
    specifications.map(({ project, moduleId }) => project.createSpecification(moduleId, testNames)),
  );
  const file = testModules.find(({ relativeModuleId }) => relativeModuleId === test);
  if (file === undefined || earlierResults.has(file)) return undefined;
  earlierResults.add(file);
  return file;
}

function decideOutcome(file: TestModule | undefined): Outcome {
  if (file === undefined) return 'broken';
  const states = [...file.children.allTests()].map((test) => test.result().state);
  if (states.includes('failed')) return 'failed';
  return file.state() === 'passed' && states.includes('passed') ? 'passed' : 'broken';
}
