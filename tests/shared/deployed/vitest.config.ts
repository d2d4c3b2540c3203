// npm run test:deployed: the service as AWS would run it, deployed on an emulator.
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { whyPythonUnavailable } from '../../../processes/python-tools.ts';
import { TIME_LIMITS } from '../support/time-limits.ts';
import { WORKERS } from '../support/workers.ts';
import { LEFT_OUT } from './emulator-differences.ts';

const obstacle = whyPythonUnavailable();
if (obstacle) console.warn(`Skipped: the tests of the deployed service, because ${obstacle}`);

// The test of the alarm runs before other tests provoke errors. The last tests move the stage to another table and remove it.
const FIRST_FILES = ['/alarms.test.ts'];
const LAST_FILES = ['/restore.test.ts', '/remove.test.ts'];
class OrderedSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      FIRST_FILES.some((name) => moduleId.endsWith(name))
        ? -2
        : LAST_FILES.findIndex((name) => moduleId.endsWith(name));
    return files.toSorted((a, b) => rank(a) - rank(b));
  }
}

const names = Object.keys(LEFT_OUT).map((name) => name.replace(/[.()?]/g, '\\$&'));

export default defineConfig({
  test: {
    name: 'deployed',
    root: join(import.meta.dirname, '../../..'),
    include: obstacle
      ? ['tests/shared/deployed/without-python.test.ts']
      : [
          'tests/ledger/contract/api/**/*.test.ts',
          'tests/ledger/http/**/*.test.ts',
          'tests/shared/deployed/*.test.ts',
        ],
    exclude: obstacle ? [] : ['tests/shared/deployed/without-python.test.ts'],
    testNamePattern: new RegExp(`^(?!.*(${names.join('|')}))`),
    ...(obstacle ? {} : { globalSetup: 'tests/shared/deployed/deploy-service.ts' }),
    // All files share one emulator and one ledger.
    fileParallelism: false,
    sequence: { sequencer: OrderedSequencer },
    ...WORKERS,
    ...TIME_LIMITS,
    reporters: ['default', './tests/shared/support/closing-line.ts'],
  },
});
