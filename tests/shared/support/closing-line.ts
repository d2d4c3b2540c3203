// Ends every run with `N passed, N failed[, N skipped]`, and makes sure that a failed run exits with an error. Appends the
// name of each skipped test to the file SKIPPED_TESTS, if that variable is set: CI knows which tests may be skipped.
import { appendFileSync } from 'node:fs';
import type { Reporter, TestModule, TestRunEndReason, TestSuite } from 'vitest/node';

type Counts = Record<'passed' | 'failed' | 'skipped', number>;

export default class ClosingLine implements Reporter {
  #counts: Counts | undefined;

  onInit(): void {
    // The line must come last: after the summary, and after the messages of stopping processes.
    process.once('exit', () => this.#close());
  }

  onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly unknown[],
    reason: TestRunEndReason,
  ): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) countModule(module, counts);
    reportSkipped(modules);
    // An interrupted run must not pass: some of its tests did not run.
    if (reason === 'interrupted') counts.failed += 1;
    this.#counts = counts;
  }

  #close(): void {
    // Without counts the run failed before any test ended, for example in a global setup.
    const counts = this.#counts ?? { passed: 0, failed: 1, skipped: 0 };
    const total = counts.passed + counts.failed + counts.skipped;
    if (counts.failed === 0 && (total === 0 || process.exitCode)) counts.failed = 1;
    if (counts.failed > 0) process.exitCode ||= 1;
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
    process.stdout.write(`${counts.passed} passed, ${counts.failed} failed${skipped}\n`);
  }
}

function countModule(module: TestModule, counts: Counts): void {
  const failedBefore = counts.failed;
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    // A test that is still pending when the run is over never ended.
    counts[state === 'pending' ? 'failed' : state] += 1;
  }
  counts.failed += countFailedSuites(module);
  if (module.state() === 'failed' && counts.failed === failedBefore) counts.failed += 1;
}

/** Counts import errors and broken hooks: the tests that they affect have no result of their own. */
function countFailedSuites(module: TestModule): number {
  const suites: (TestModule | TestSuite)[] = [module, ...module.children.allSuites()];
  return suites.filter((suite) => suite.errors().length > 0).length;
}

function reportSkipped(modules: readonly TestModule[]): void {
  const { SKIPPED_TESTS: file } = process.env;
  if (!file) return;
  const names = modules.flatMap((module) =>
    [...module.children.allTests('skipped')].map(
      (test) => `${module.relativeModuleId} > ${test.fullName}\n`,
    ),
  );
  appendFileSync(file, names.join(''));
}
