// npm run test:deployed: the service as AWS would run it, deployed on an emulator.
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { whyNoPython } from '../../local/python-tools.ts';
import { TIME_LIMITS } from '../support/time-limits.ts';
import { LEFT_OUT } from './emulator-differences.ts';

const obstacle = whyNoPython();
if (obstacle) console.warn(`Skipped: the tests of the deployed service, because ${obstacle}`);

// The stage is removed after everything else.
class RemoveLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLast = ({ moduleId }: TestSpecification) => moduleId.endsWith('/remove.test.ts');
    return [...files.filter((file) => !isLast(file)), ...files.filter(isLast)];
  }
}

const names = Object.keys(LEFT_OUT).map((name) => name.replace(/[.()]/g, '\\$&'));

export default defineConfig({
  test: {
    name: 'deployed',
    root: join(import.meta.dirname, '../..'),
    include: obstacle
      ? ['tests/deployed/without-python.test.ts']
      : ['tests/contract/api/**/*.test.ts', 'tests/http/**/*.test.ts', 'tests/deployed/*.test.ts'],
    exclude: obstacle ? [] : ['tests/deployed/without-python.test.ts'],
    testNamePattern: new RegExp(`^(?!.*(${names.join('|')}))`),
    ...(obstacle ? {} : { globalSetup: 'tests/deployed/deploy-service.ts' }),
    // One emulator and one ledger for all files.
    fileParallelism: false,
    sequence: { sequencer: RemoveLast },
    ...TIME_LIMITS,
    reporters: ['default', './tests/support/closing-line.ts'],
  },
});
