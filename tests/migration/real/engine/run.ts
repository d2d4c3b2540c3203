// npx node tests/migration/real/engine/run.ts runs tests on Qdrant's own storage engine, without its server: the contract of the
// vector store, real mem0 of both versions, and migrations from one version to the other and back while users write.
// missing-parts.ts lists what the engine lacks. A test that fails for another reason fails this command, and so does an entry of the list
// whose tests have passed.
import type { UserConsoleLog } from 'vitest';
import { createVitest, type TestCase } from 'vitest/node';
import { createCommand, runProgram } from '../../../../processes/program.ts';
import { createResources } from '../../../../processes/resources.ts';
import { qdrantEngine } from '../../../../sandbox/real/engine/server.ts';
import { mem0Environments } from '../../../../sandbox/real/mem0/environments.ts';
import { MISSING_PARTS } from './missing-parts.ts';

const SUITES = ['contract/vector-store/', 'real/mem0', 'real/switches', 'real/in-place'].map(
  (suite) => `tests/migration/${suite}`,
);
const ON_REAL_QDRANT = 'a real Qdrant';
/** Migrations that are run, forward and back; other scenarios take many minutes each. */
const MIGRATIONS = [
  'users who deleted many memories',
  'a service that runs the new version already',
  'memories of an agent or a session alone',
];
const EVERY_MIGRATION = 'a busy service';

const resources = createResources();
const command = createCommand(
  'npx node tests/migration/real/engine/run.ts',
  "Run tests of the migration on Qdrant's storage engine.",
)
  .option('--all', 'play every migration of a busy service, not three')
  .action(async ({ all = false }) => {
    const services = [qdrantEngine, mem0Environments];
    const obstacles = services.flatMap(({ title, whyUnavailable: obstacle }) => {
      const why = obstacle();
      return why ? [`Skipped the tests that need ${title}: ${why} on this machine`] : [];
    });
    if (obstacles.length > 0) {
      console.log(obstacles.join('\n'));
      console.log('0 passed, 0 failed, 1 skipped');
      return;
    }
    for (const service of services) {
      const { environment } = await service.start(resources);
      Object.assign(process.env, environment);
    }
    const titles = [ON_REAL_QDRANT, ...(all ? [EVERY_MIGRATION] : MIGRATIONS)];
    report(await runTests(new RegExp(titles.join('|'))));
  });
await runProgram(command, { resources });

/** @returns the tests that ran: only those on the engine are selected */
async function runTests(titles: RegExp): Promise<readonly TestCase[]> {
  const reporter = { onUserConsoleLog: ({ content }: UserConsoleLog) => console.log(content) };
  const vitest = await createVitest({
    watch: false,
    reporters: [reporter],
    testNamePattern: titles,
  });
  try {
    const { testModules } = await vitest.start(SUITES);
    const tests = testModules.flatMap((file) => [...file.children.allTests()]);
    return tests.filter((test) => test.result().state !== 'skipped');
  } finally {
    await vitest.close();
  }
}

function report(tests: readonly TestCase[]): void {
  const failures = tests.filter((test) => test.result().state === 'failed');
  const unexplained = failures.filter(
    (test) => !MISSING_PARTS.some((missingPart) => isWithout(missingPart, test)),
  );
  for (const missingPart of MISSING_PARTS) {
    const count = failures.filter((test) => isWithout(missingPart, test)).length;
    console.log(`Without ${missingPart.part}, ${count} tests fail`);
  }
  const stale = MISSING_PARTS.filter((missingPart) => {
    const affected = tests.filter((test) => isWithout(missingPart, test));
    return affected.length === 0 || affected.some((test) => test.result().state === 'passed');
  });
  for (const test of unexplained) {
    const [error] = test.result().errors ?? [];
    console.log(`FAIL  ${fullTitle(test)}\n${error?.message}`);
  }
  for (const { part } of stale) console.log(`FAIL  The engine has ${part}, or no test needs it`);
  const failed = unexplained.length + stale.length;
  const passed = tests.length - failures.length;
  console.log(`${passed} passed, ${failed} failed, 0 skipped`);
  // Vitest has set the exit code to 1 for the tests that fail as expected.
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}

function isWithout(
  { without }: Pick<(typeof MISSING_PARTS)[number], 'without'>,
  test: TestCase,
): boolean {
  return without.test(fullTitle(test));
}

function fullTitle(test: TestCase): string {
  return `${test.module.relativeModuleId} > ${test.fullName}`;
}
