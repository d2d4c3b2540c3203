// Applies each mutant in a copy of the project and runs the test that must fail for it.
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from '@commander-js/extra-typings';
import { createVitest, type TestModule, type Vitest } from 'vitest/node';
import { MUTANTS, type Mutant } from './mutants.ts';

const PROJECT = join(import.meta.dirname, '../../..');

/** Outcome of a test file: `passed` only when a test ran and none failed. */
type Outcome = 'passed' | 'failed' | 'broken';

const { args: pathParts } = new Command('npm run test:mutants --')
  .description('Break one rule at a time: a test must fail each time.')
  .argument('[parts...]', 'parts of the paths of sources or tests, such as lib/ledger/http')
  .parse();
const chosen = MUTANTS.filter(
  ({ file, test }) =>
    pathParts.length === 0 || pathParts.some((part) => file.includes(part) || test.includes(part)),
);
const survivors: string[] = [];
/** Results of earlier runs: Vitest returns the previous result again for a file that a run could not start. */
const earlierResults = new WeakSet<TestModule>();

assertApplicable();
const copy = await createCopy();
const vitest = await startVitest();
try {
  await assertPassing();
  for (const mutant of chosen) await tryMutant(mutant);
} finally {
  await vitest.close();
  await rm(copy, { recursive: true, force: true });
}
// Repeated here, because CI shows only the last lines of a failed step.
for (const survivor of survivors) console.log(survivor);
console.log(`${chosen.length - survivors.length} passed, ${survivors.length} failed`);
// Vitest has set the exit code to 1 for the tests that failed as they should.
process.exitCode = survivors.length > 0 ? 1 : 0;

/** @throws when the search text of a mutant is not in its file exactly once */
function assertApplicable(): void {
  const stale = MUTANTS.filter(({ file, search }) => {
    return readFileSync(join(PROJECT, file), 'utf8').split(search).length !== 2;
  });
  if (stale.length === 0) return;
  const lines = stale.map(({ file, search }) => `  ${file}: ${JSON.stringify(search)}`);
  throw new Error(
    `These search texts do not occur exactly once in their files:\n${lines.join('\n')}`,
  );
}

async function tryMutant({ file, search, replacement, test, testName }: Mutant): Promise<void> {
  const source = await readFile(join(copy, file), 'utf8');
  await rewrite(
    file,
    source.replace(search, () => replacement),
  );
  const outcome = (await runTests([{ test, testName }])).get(test) ?? 'broken';
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
  const names = (await readdir(PROJECT)).filter((name) => !name.startsWith('.'));
  for (const name of names) {
    if (name === 'node_modules') await symlink(join(PROJECT, name), join(folder, name));
    else await cp(join(PROJECT, name), join(folder, name), { recursive: true });
  }
  return folder;
}

/** Starts one Vitest for all runs, so that the imports of the tests are transformed only once. */
async function startVitest(): Promise<Vitest> {
  const started = await createVitest({ root: copy, watch: false, bail: 1, reporters: [{}] });
  await started.standalone();
  return started;
}

/** @throws when a test does not pass without a mutant */
async function assertPassing(): Promise<void> {
  const outcomes = await runTests(chosen);
  const tests = [...new Set(chosen.map(({ test }) => test))];
  // The first failure ends the run, so the files after it have no outcome.
  const failed = tests.filter((test) => outcomes.get(test) === 'failed');
  const notPassed = tests.filter((test) => outcomes.get(test) !== 'passed');
  const faulty = failed.length > 0 ? failed : notPassed;
  if (faulty.length > 0)
    throw new Error(`These tests do not pass without a mutant: ${faulty.join(', ')}`);
  assertNamesExist();
}

/** @throws when a mutant names a test that did not run, for example because it was renamed */
function assertNamesExist(): void {
  const names = new Set(
    vitest.state
      .getTestModules()
      .flatMap(({ relativeModuleId, children }) =>
        [...children.allTests()].map(({ fullName }) => `${relativeModuleId}: ${fullName}`),
      ),
  );
  const missing = chosen.flatMap(({ test, testName }) =>
    testName === undefined || names.has(`${test}: ${testName}`) ? [] : `  ${test}: ${testName}`,
  );
  if (missing.length > 0) throw new Error(`No test has these names:\n${missing.join('\n')}`);
}

/**
 * Runs the tests of some mutants. If every mutant of a test file names a test, only the named tests of the file run.
 * @returns the outcome of each test file that ran
 */
async function runTests(
  selection: readonly Pick<Mutant, 'test' | 'testName'>[],
): Promise<ReadonlyMap<string, Outcome>> {
  const specifications = [];
  for (const [test, mutants] of Map.groupBy(selection, ({ test }) => test)) {
    const names = mutants.flatMap(({ testName }) => testName ?? []);
    const testNames = names.length === mutants.length ? { testNames: [...new Set(names)] } : {};
    for (const { project, moduleId } of await vitest.globTestSpecifications([test])) {
      specifications.push(project.createSpecification(moduleId, testNames));
    }
  }
  const { testModules } = await vitest.runTestSpecifications(specifications);
  const results = testModules.filter((file) => !earlierResults.has(file));
  for (const file of results) earlierResults.add(file);
  return new Map(results.map((file) => [file.relativeModuleId, decideOutcome(file)]));
}

function decideOutcome(file: TestModule): Outcome {
  const states = [...file.children.allTests()].map((test) => test.result().state);
  if (states.includes('failed')) return 'failed';
  return file.state() === 'passed' && states.includes('passed') ? 'passed' : 'broken';
}
