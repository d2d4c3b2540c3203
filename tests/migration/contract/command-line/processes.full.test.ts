// `npm run migrate` as a process: locally and on a stage, at a terminal, interrupted, and without the services that it needs
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readOutput } from '../../../../processes/tools.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { BARE_ENVIRONMENT } from '../../../shared/support/bare-environment.ts';
import { computeFingerprint } from '../../support/collections.ts';
import {
  COMMAND,
  createOperator,
  NO_ACCOUNT,
  PLACES,
  RUN_OPTION,
  runMigrate,
  startMigrateWith,
} from '../../support/command-line.ts';
import { RUN } from '../../support/run-table.ts';

const TARGET = `${SOURCE}_v3_${RUN}`;
const PLAN = ['--source', SOURCE, '--accept', 'no-graph', '--drain-seconds', '0'];
const FROM_THE_START = ['run', ...RUN_OPTION, ...PLAN];

describe.each(PLACES)('a migration, %s', (place) => {
  it('moves to the new version and back without losing a write', async () => {
    const operator = await createOperator(place, { hasWebhook: true });
    const { succeed, services, readRun } = operator;
    const { vectors, setting } = services;
    await succeed(...FROM_THE_START, '--free-gb', '1', '--yes');
    expect([(await readRun()).phase, await setting.read()]).toEqual(['live', TARGET]);

    const { points } = await vectors.scroll(TARGET, { limit: 1 });
    await vectors.deletePoints(TARGET, { ids: points.map(({ id }) => id) });
    const written = await computeFingerprint(vectors, TARGET);
    await succeed('rollback', '--execute', '--yes');
    expect([(await readRun()).phase, await setting.read()]).toEqual(['copied', SOURCE]);
    expect(await computeFingerprint(vectors, SOURCE)).toEqual(written);
  });

  it('names the refusal of an invalid command, and leaves the run unchanged', async () => {
    const { migrate, startRun, readRun } = await createOperator(place);
    await startRun();
    const before = await readRun();
    for (const [name, ...args] of [
      ['RefusedNotNow', 'copy', ...RUN_OPTION, '--execute'],
      ['RefusedSetting', 'preflight', ...RUN_OPTION, '--source', 'another', '--execute'],
      ['RefusedUnknownRun', 'preflight', '--run', 'run-z'],
    ]) {
      const { code, stdout, stderr } = await migrate(...args);
      expect([code, stdout, stderr.split(':')[0]]).toEqual([3, '', name]);
    }
    expect(await readRun()).toEqual(before);
  });
});

describe('an interrupted step', () => {
  it('reports that it waits for a store, then releases its lock at once and says so', async () => {
    const { commandEnvironment, startRun, services } = await createOperator();
    await startRun();
    const withoutStore = { ...commandEnvironment, QDRANT_URL: 'http://127.0.0.1:9' };
    const { child, ended } = startMigrateWith(withoutStore, 'preflight', ...RUN_OPTION);
    child.stderr?.on('data', (text) => {
      if (String(text).includes('Waiting for the vector store')) child.kill('SIGINT');
    });
    const { code, stderr } = await ended;
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /Stopping \.\.\.\s+Interrupted: this command holds no lock\. .*Next: npm run migrate -- /,
      ),
    ]);
    await expect(services.lock.take(RUN)).resolves.toMatchObject({ runId: RUN });
  });
});

describe('the environment', () => {
  it('is checked completely before the database is contacted', async () => {
    const { code, stderr } = await runMigrate(
      { QDRANT_URL: 'not-a-url', DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' },
      ...['preflight', ...RUN_OPTION],
    );
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^RefusedSetting: TABLE_NAME is not set.*QDRANT_URL is not like .*MEMORY_BACKEND_URL is not set.*MEMORY_BACKEND_KEY is not set/,
    );
  });

  it('needs only the table for status', async () => {
    const { commandEnvironment, startRun } = await createOperator();
    await startRun();
    const { TABLE_NAME, DYNAMODB_ENDPOINT } = commandEnvironment;
    const ended = await runMigrate({ TABLE_NAME, DYNAMODB_ENDPOINT }, 'status');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toContain(`table ${TABLE_NAME} at ${DYNAMODB_ENDPOINT}`);
  });

  it('creates the table in a data folder, and keeps its runs there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'runs-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const { commandEnvironment } = await createOperator();
    const environment = { ...commandEnvironment, DYNAMODB_ENDPOINT: '', DATA_DIR: folder };
    const begin = ['preflight', ...RUN_OPTION, ...PLAN, '--free-gb', '1', '--execute'];
    expect(await runMigrate(environment, ...begin)).toMatchObject({ code: 0, stderr: '' });
    const { code, stdout } = await runMigrate(environment, 'status');
    expect([code, stdout]).toEqual([0, expect.stringContaining(`${RUN}: checked`)]);
  });

  it('needs only the memory backend for a check of the backend', async () => {
    const { commandEnvironment } = await createOperator();
    const { MEMORY_BACKEND_URL, MEMORY_BACKEND_KEY } = commandEnvironment;
    const args = ['preflight', '--backend-only', ...RUN_OPTION];
    const ended = await runMigrate({ MEMORY_BACKEND_URL, MEMORY_BACKEND_KEY }, ...args);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toContain('Memory backend: answers');
    const without = await runMigrate({ MEMORY_BACKEND_URL }, 'preflight', '--backend-only');
    expect([without.code, without.stderr]).toEqual([
      3,
      expect.stringMatching(/^RefusedSetting: MEMORY_BACKEND_KEY is not set/),
    ]);
  });

  const table = { TABLE_NAME: 'finance-ledger-prod' };

  it.each([
    ['no table', {}, 3, /^RefusedSetting: TABLE_NAME is not set.*DATA_DIR/],
    [
      'nothing but data in memory',
      { ...table, DATA_DIR: 'memory' },
      3,
      /^RefusedSetting: .*table finance-ledger-prod/,
    ],
    ['an AWS table without a region', table, 3, /^RefusedSetting: AWS_REGION is not set/],
    [
      'an AWS table without credentials',
      { ...table, AWS_REGION: 'eu-west-1' },
      3,
      /^RefusedCredentials: AWS/,
    ],
    [
      'a database that does not answer',
      { ...table, DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' },
      1,
      /^RetryableUnavailable: .*127/,
    ],
  ])(
    'with %s is refused, and the missing part is named',
    async (_, environment, exitCode, reason) => {
      const { code, stderr } = await runMigrate(environment, 'status');
      expect([code, stderr]).toEqual([exitCode, expect.stringMatching(reason)]);
    },
  );
});

const HAS_SCRIPT = readOutput('script', '--version')?.includes('util-linux') === true;

describe.skipIf(!HAS_SCRIPT)('a person at a terminal', () => {
  async function typeAnswer(answer: string) {
    const operator = await createOperator();
    await operator.startRun();
    const command = `${process.execPath} ${COMMAND} abort --run ${RUN} --execute`;
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { ...BARE_ENVIRONMENT, ...NO_ACCOUNT, ...operator.commandEnvironment },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let shown = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      shown += text;
      if (text.includes('Type the run id')) child.stdin.write(answer);
    });
    const [code] = await once(child, 'close');
    return { code, shown, phase: (await operator.readRun()).phase };
  }

  it.each([
    ['who types the run id aborts the run', `${RUN}\r`, 0, 'aborted'],
    ['who presses Ctrl-C does not abort the run', '\x03', 3, 'checked'],
  ])('%s', async (_, answer, exitCode, expectedPhase) => {
    const { code, shown, phase } = await typeAnswer(answer);
    expect([code, phase], shown).toEqual([exitCode, expectedPhase]);
  });
});
