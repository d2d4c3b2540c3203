// tests/ has a folder for each product and one for what both use; each folder below is a kind of test. `npm test` runs the
// files named `*.test.ts`, `bash .ci/run full` those named `*.full.test.ts` and those of which `npm test` leaves out cases, and
// `npx vitest run <path>` any of them.
import { globSync, readFileSync } from 'node:fs';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { dynamodbLocal } from './local/engine.ts';
import { TIME_LIMITS } from './tests/shared/support/time-limits.ts';
import { WORKERS } from './tests/shared/support/workers.ts';

interface Kind {
  readonly globalSetup?: string;
  readonly setupFiles?: string;
  /** Kinds with the same number run at the same time, higher numbers later. */
  readonly groupOrder?: number;
  /** False where the files share what they test. */
  readonly fileParallelism?: boolean;
  readonly testTimeout?: number;
}

const DATABASE: Kind = { globalSetup: 'tests/shared/support/database-engine.ts' };

const KINDS = {
  // Pure code: a minute ends what hangs, however busy the machine is.
  unit: { testTimeout: 60_000 },
  wiring: {
    globalSetup: 'tests/shared/support/package-service.ts',
    setupFiles: 'tests/shared/support/packages-ready.ts',
  },
  property: DATABASE,
  contract: DATABASE,
  workflow: DATABASE,
  http: {
    globalSetup: 'tests/ledger/support/running-api.ts',
    groupOrder: 1,
    fileParallelism: false,
  },
  start: { groupOrder: 2, fileParallelism: false },
  // Only in `npm run test:real`, which starts the services.
  real: { ...DATABASE, groupOrder: 3 },
} satisfies Record<string, Kind>;

type KindName = keyof typeof KINDS;

interface Files {
  readonly include: string[];
  readonly exclude?: string[];
}

// The gateway decides on routes, so these tests also run over HTTP in `npm test`.
const ROUTES = 'tests/ledger/contract/api/routes.test.ts';

function quickFiles(kind: KindName): Files {
  if (kind === 'real') return { include: [] };
  const include = [`tests/*/${kind}/**/*.test.ts`, ...(kind === 'http' ? [ROUTES] : [])];
  return { include, exclude: ['**/*.full.test.ts'] };
}

function fullFiles(kind: KindName): Files {
  if (kind === 'real') return { include: [] };
  const include = [`tests/*/${kind}/**/*.full.test.ts`];
  // The same properties, with more runs of each.
  if (kind === 'property') return { include: ['tests/*/property/**/*.test.ts'] };
  // The in-process contract of the API, over HTTP: a test that needs a table, a clock or faults of its own belongs in
  // tests/ledger/contract.
  if (kind === 'http')
    return { include: [...include, 'tests/ledger/contract/api/**/*.test.ts'], exclude: [ROUTES] };
  return {
    include: [...include, ...globSync(`tests/*/${kind}/**/*.test.ts`).filter(leavesOutCases)],
  };
}

/** Decides whether `npm test` leaves out cases of the file. */
function leavesOutCases(file: string): boolean {
  return readFileSync(file, 'utf8').includes('/support/quick-cases.ts');
}

function anyFiles(kind: KindName): Files {
  return { include: [`tests/*/${kind}/**/*.test.ts`] };
}

/** Tests in the folders of database tests that need no database, or reach it only through code that other tests cover. */
const WITHOUT_DATABASE = [
  'tests/ledger/property/{date-keys,day-histogram,linear-text,money,parsing,statements}.test.ts',
  'tests/ledger/contract/{import,verify}-*.test.ts',
  'tests/migration/contract/{collection-setting,memory-backend,restore-graph-*,search-parity}.test.ts',
];

/** The tests that depend on the database. */
function filesOnDynamodbLocal(kind: KindName): Files {
  if (kind === 'property') {
    return { include: ['tests/ledger/property/*.test.ts'], exclude: WITHOUT_DATABASE };
  }
  if (kind === 'http') return quickFiles(kind);
  if (kind !== 'contract') return { include: [] };
  return {
    include: ['tests/ledger/contract/**/*.test.ts', 'tests/migration/contract/*.test.ts'],
    exclude: WITHOUT_DATABASE,
  };
}

function chooseFiles(mode: string): (kind: KindName) => Files {
  if (mode === 'dynamodb-local') {
    // Read by the setup that starts the engine, and by the tests.
    process.env.TEST_ENGINE = mode;
    const obstacle = dynamodbLocal.whyUnavailable();
    if (obstacle === undefined) return filesOnDynamodbLocal;
    console.warn(`Skipped the tests on DynamoDB Local: ${obstacle} on this machine`);
    return (kind) => ({
      include: kind === 'contract' ? ['tests/shared/support/without-dynamodb-local.test.ts'] : [],
    });
  }
  if (mode === 'quick') return quickFiles;
  return mode === 'full' ? fullFiles : anyFiles;
}

// No test may find a real account, and all that share a database must use the same one.
const LOCAL_ACCESS = {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
};

/** Sorts the wiring tests last: they wait for the packages of the service, which are made meanwhile. */
class WiringLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isWiring = ({ project }: TestSpecification) => project.name === 'wiring';
    const sorted = await super.sort(files);
    return [...sorted.filter((file) => !isWiring(file)), ...sorted.filter(isWiring)];
  }
}

export default defineConfig(({ mode }) => {
  const select = chooseFiles(mode);
  const projects = Object.entries(KINDS).map(
    ([name, { groupOrder, fileParallelism, ...kind }]: [
      string,
      Kind,
    ]): TestProjectInlineConfiguration => ({
      test: {
        name,
        env: { ...LOCAL_ACCESS, TEST_MODE: mode },
        // The few of `npm test` neither share nor burden anything.
        ...(mode === 'quick'
          ? {}
          : {
              sequence: { groupOrder: groupOrder ?? 0 },
              fileParallelism: fileParallelism ?? true,
            }),
        ...WORKERS,
        ...TIME_LIMITS,
        ...kind,
        ...select(name as KindName),
      },
    }),
  );
  return {
    test: {
      projects,
      // Half of the time is spent waiting for a database or a server: one worker more than the cores of CI.
      maxWorkers: 3,
      sequence: { sequencer: WiringLast },
      reporters: ['default', './tests/shared/support/closing-line.ts'],
    },
  };
});
