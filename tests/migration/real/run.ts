// npm run test:real [-- SUITE]: tests with the real services that they need. A service that cannot run on this machine is
// not started, and its tests count as skipped.
import { runInTerminal } from '../../../processes/run-in-terminal.ts';

interface Suite {
  readonly services: string;
  readonly vitest: readonly string[];
}

const SUITES: Readonly<Record<string, Suite>> = {
  all: {
    services: 'qdrant,mem0,neo4j',
    vitest: [
      'tests/migration/real',
      'tests/migration/contract/vector-store',
      'tests/migration/contract/memory-backend',
      'tests/migration/contract/graph-store/neo4j',
      'tests/migration/start/rehearsing-on-neo4j',
      'tests/migration/start/restoring-on-neo4j',
    ],
  },
  s3: {
    services: 'aws',
    vitest: [
      'tests/migration/contract/artifacts/s3-artifacts',
      'tests/migration/contract/collection-setting',
    ],
  },
  migrations: {
    services: 'qdrant,mem0',
    vitest: ['tests/migration/real/switches.test.ts', 'tests/migration/real/in-place.test.ts'],
  },
};

const [name = 'all', ...options] = process.argv.slice(2);
const suite = SUITES[name];
if (suite) process.exitCode = await run(suite);
else {
  console.error(`Unknown suite "${name}": use ${Object.keys(SUITES).join(', ')}.`);
  process.exitCode = 2;
}

async function run({ services, vitest }: Suite): Promise<number> {
  const starter = ['sandbox/real/with-service.ts', services];
  return await runInTerminal([
    ...starter,
    'vitest',
    'run',
    '--mode',
    'real',
    ...vitest,
    ...options,
  ]);
}
