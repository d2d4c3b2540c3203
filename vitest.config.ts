// The kinds of tests, each a folder of tests/; `npm test` runs them all.
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { whyNoDynamodbLocal } from './local/dynamodb-local.ts';

interface Kind {
  /** Files besides those of the kind's own folder. */
  readonly also?: string;
  readonly globalSetup?: string;
  /** Kinds of one turn run side by side, the next turn after them. */
  readonly turn?: number;
  /** Whether files run side by side; not where they share what runs. */
  readonly fileParallelism?: boolean;
  readonly testTimeout?: number;
}

const DATABASE: Kind = { globalSetup: 'tests/support/database-engine.ts', testTimeout: 60_000 };

const KINDS: Record<string, Kind> = {
  unit: {},
  wiring: { globalSetup: 'tests/support/package-service.ts', testTimeout: 60_000 },
  property: DATABASE,
  contract: DATABASE,
  workflow: DATABASE,
  http: {
    // What holds for the handlers in the test's own process holds for the running service.
    also: 'tests/contract/api/**/*.test.ts',
    globalSetup: 'tests/support/running-api.ts',
    turn: 1,
    fileParallelism: false,
    testTimeout: 60_000,
  },
  start: { turn: 2, fileParallelism: false, testTimeout: 120_000 },
};

// Dummies: no test may find an account, and all that share a database must say the same.
const LOCAL_ACCESS = {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
};

function project(name: string, kind: Kind): TestProjectInlineConfiguration {
  const { turn = 0, also, ...rest } = kind;
  return {
    test: {
      name,
      include: [`tests/${name}/**/*.test.ts`, ...(also ? [also] : [])],
      env: LOCAL_ACCESS,
      sequence: { groupOrder: turn },
      hookTimeout: 60_000,
      ...rest,
    },
  };
}

function projects(): TestProjectInlineConfiguration[] {
  const all = Object.entries(KINDS).map(([name, kind]) => project(name, kind));
  if (process.env.TEST_ENGINE !== 'dynamodb-local') return all;
  const obstacle = whyNoDynamodbLocal();
  if (obstacle === undefined) return all;
  console.warn(`Skipped: the tests on DynamoDB Local, because ${obstacle} on this machine`);
  return ['contract', 'property', 'http'].map((name) => ({
    test: { name, include: name === 'contract' ? ['tests/support/without-*.test.ts'] : [] },
  }));
}

export default defineConfig({
  test: { projects: projects(), reporters: ['default', './tests/support/closing-line.ts'] },
});
