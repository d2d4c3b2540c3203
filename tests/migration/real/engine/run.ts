// npx node tests/migration/real/engine/run.ts: the contract of the vector store on Qdrant's own storage engine, without its server.
// Whatever the engine lacks is listed in lacks.ts; a test fails this command where it fails for another reason, and an entry of
// the list where its tests have passed.
import { createVitest, type TestCase } from 'vitest/node';
import { createCommand, runProgram } from '../../../../processes/program.ts';
import { createRunning } from '../../../../processes/running.ts';
import { qdrantEngine } from '../../../../sandbox/real/engine/server.ts';
import { LACKS } from './lacks.ts';

const CONTRACT = 'tests/migration/contract/vector-store/';
const ON_A_REAL_ONE = /^a real Qdrant/;

const running = createRunning();
const command = createCommand(
  'npx node tests/migration/real/engine/run.ts',
  "Run the contract of the vector store on Qdrant's storage engine.",
).action(async () => {
  const obstacle = qdrantEngine.obstacle();
  if (obstacle) {
    console.log(`Skipped what needs ${qdrantEngine.title}: ${obstacle} on this machine`);
    console.log('0 passed, 0 failed, 1 skipped');
    return;
  }
  const { environment } = await qdrantEngine.start(running);
  Object.assign(process.env, environment);
  report(await runContract());
});
await runProgram(command, { running });

/** @returns the tests that ran, and nothing of the stand-ins */
async function runContract(): Promise<readonly TestCase[]> {
  const vitest = await createVitest({
    watch: false,
    reporters: [{}],
    testNamePattern: ON_A_REAL_ONE,
  });
  try {
    const { testModules } = await vitest.start([CONTRACT]);
    return testModules.flatMap((file) => [...file.children.allTests()]).filter(hasRun);
  } finally {
    await vitest.close();
  }
}

function hasRun(test: TestCase): boolean {
  return ON_A_REAL_ONE.test(test.fullName) && test.result().state !== 'skipped';
}

function report(tests: readonly TestCase[]): void {
  const failures = tests.filter((test) => test.result().state === 'failed');
  const unexplained = failures.filter((test) => !LACKS.some((lack) => isOf(lack, test)));
  for (const lack of LACKS) {
    const count = failures.filter((test) => isOf(lack, test)).length;
    console.log(`Without ${lack.part}, ${count} tests fail`);
  }
  const stale = LACKS.filter((lack) => {
    const own = tests.filter((test) => isOf(lack, test));
    return own.length === 0 || own.some((test) => test.result().state === 'passed');
  });
  for (const test of unexplained) {
    const [error] = test.result().errors ?? [];
    console.log(`FAIL  ${test.module.relativeModuleId} > ${test.fullName}\n${error?.message}`);
  }
  for (const { part } of stale)
    console.log(`FAIL  The engine does not lack ${part}, or no test needs it`);
  const failed = unexplained.length + stale.length;
  const passed = tests.length - failures.length;
  console.log(`${passed} passed, ${failed} failed, 0 skipped`);
  // Vitest has set it to 1 for the tests that failed as they had to.
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}

function isOf({ without }: Pick<(typeof LACKS)[number], 'without'>, test: TestCase): boolean {
  return without.test(`${test.module.relativeModuleId} > ${test.fullName}`);
}
