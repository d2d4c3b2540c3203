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

const { args: parts } = new Command('npm run test:mutants --')
  .description('Break one rule at a time: a test must fail each time.')
  .argument('[parts...]', 'parts of the paths of sources or tests, such as lib/ledger/http')
  .parse();
const chosen = MUTANTS.filter(
  ({ file, test }) =>
    parts.length === 0 || parts.some((part) => file.includes(part) || test.includes(part)),
);
let survivors = 0;
/** Results that were taken already: Vitest returns the previous result again for a file that a run could not start. */
const reported = new WeakSet<TestModule>();

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
console.log(`${chosen.length - survivors} passed, ${survivors} failed`);
// Vitest has set the exit code to 1 for the tests that failed as they should.
process.exitCode = survivors > 0 ? 1 : 0;

/** @throws when the search text of a mutant is not in its file exactly once */
function assertApplicable(): void {
  const stale = MUTANTS.filter(({ file, search }) => {
    return readFileSync(join(PROJECT, file), 'utf8').split(search).length !== 2;
  });
  if (stale.length === 0) return;
  const lines = stale.map(({ file, search }) => `  ${file}: ${JSON.stringify(search)}`);
  throw new Error(`Not exactly once in its file:\n${lines.join('\n')}`);
}

async function tryMutant({ file, search, replacement, test, testName }: Mutant): Promise<void> {
  const source = await readFile(join(copy, file), 'utf8');
  await change(
    file,
    source.replace(search, () => replacement),
  );
  const outcome = (await run([{ test, testName }])).get(test) ?? 'broken';
  await change(file, source);
  // A mutant that breaks the test file, instead of failing a test, proves nothing.
  const isKilled = outcome === 'failed';
  if (!isKilled) survivors += 1;
  const what = `${JSON.stringify(search)} -> ${JSON.stringify(replacement)}`;
  console.log(`${isKilled ? 'killed  ' : `SURVIVED (${outcome})`} ${file}: ${what} by ${test}`);
}

async function change(file: string, source: string): Promise<void> {
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
  const outcomes = await run(chosen);
  const tests = [...new Set(chosen.map(({ test }) => test))];
  // After the first failure no further test runs.
  const failed = tests.filter((test) => outcomes.get(test) === 'failed');
  const others = tests.filter((test) => outcomes.get(test) !== 'passed');
  const named = failed.length > 0 ? failed : others;
  if (named.length > 0) throw new Error(`Not passed without a mutant: ${named.join(', ')}`);
  assertNamed();
}

/** A test that was renamed could not fail. @throws when no test that ran has the name of a mutant's test */
function assertNamed(): void {
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
async function run(
  wanted: readonly Pick<Mutant, 'test' | 'testName'>[],
): Promise<ReadonlyMap<string, Outcome>> {
  const specifications = [];
  for (const [test, mutants] of Map.groupBy(wanted, ({ test }) => test)) {
    const names = mutants.flatMap(({ testName }) => testName ?? []);
    const testNames = names.length === mutants.length ? { testNames: [...new Set(names)] } : {};
    for (const { project, moduleId } of await vitest.globTestSpecifications([test])) {
      specifications.push(project.createSpecification(moduleId, testNames));
    }
  }
  const { testModules } = await vitest.runTestSpecifications(specifications);
  const ran = testModules.filter((file) => !reported.has(file));
  for (const file of ran) reported.add(file);
  return new Map(ran.map((file) => [file.relativeModuleId, decideOutcome(file)]));
}

function decideOutcome(file: TestModule): Outcome {
  const states = [...file.children.allTests()].map((test) => test.result().state);
  if (states.includes('failed')) return 'failed';
  return file.state() === 'passed' && states.includes('passed') ? 'passed' : 'broken';
}
