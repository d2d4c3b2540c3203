// What the command line itself, or the environment, has wrong: told before anybody is asked, or for want of an answer.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  COMMAND,
  createOperator,
  migrateWith,
  NO_ACCOUNT,
  OF_RUN,
} from '../../../support/migration/command-line.ts';

describe('a command line that is wrong in itself', () => {
  it.each([
    ['an unknown command', ['migrate'], 'no command "migrate"'],
    ['an unknown option', ['status', '--force'], "'--force'"],
    ['no run', ['copy', '--execute'], 'needs --run'],
    ['a stage that is no name', ['status', '--stage', 'pr/od'], '--stage is the name of a stage'],
  ])('ends with 2 for %s, speaking to nobody', async (_, words, fault) => {
    const { code, stdout, stderr } = await migrateWith({}, ...words);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^WrongUseError: .+\nSee npm run migrate -- --help\n$/);
    expect(stderr).toContain(fault);
  });
});

describe('help for a machine', () => {
  it.each([[['--help', '--json']], [['copy', '--help', '--json']]])(
    'is one object: %j',
    async (words) => {
      const { code, stdout, stderr } = await migrateWith({}, ...words);
      expect([code, stderr]).toEqual([0, '']);
      expect(JSON.parse(stdout)).toEqual({ exitCode: 0, help: expect.stringContaining('copy') });
    },
  );
});

describe('the environment', () => {
  it('is told all that is missing or unusable, before the database is looked for', async () => {
    const { code, stderr } = await migrateWith(
      { QDRANT_URL: 'not-a-url', DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' },
      ...['preflight', ...OF_RUN],
    );
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^RefusedSetting: QDRANT_URL is not like .*MEMORY_BACKEND_URL is not set.*MEMORY_BACKEND_KEY is not set/,
    );
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('needs to name no more than the table for status, start and approve', async () => {
    const { named, start } = await createOperator();
    await start();
    const { TABLE_NAME, DYNAMODB_ENDPOINT } = named;
    const ended = await migrateWith({ TABLE_NAME, DYNAMODB_ENDPOINT }, 'status');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('with the name of a table that is not there is refused by the variable', async () => {
    const { named } = await createOperator();
    const { code, stderr } = await migrateWith({ ...named, TABLE_NAME: 'not-there' }, 'status');
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/^RefusedSetting: TABLE_NAME is not-there, and there is no such table/),
    ]);
  });

  it('with a table of AWS and no region, or no credentials, is refused by name', async () => {
    const table = { TABLE_NAME: 'finance-ledger-prod' };
    const nowhere = await migrateWith(table, 'status');
    expect([nowhere.code, nowhere.stderr]).toEqual([
      3,
      expect.stringMatching(/^RefusedSetting: AWS_REGION is not set/),
    ]);
    const nobody = await migrateWith({ ...table, AWS_REGION: 'eu-west-1' }, 'status');
    expect([nobody.code, nobody.stderr]).toEqual([
      3,
      expect.stringMatching(/^RefusedCredentials: AWS knows no such caller/),
    ]);
  });
});

describe('a service that does not answer', () => {
  it('is waited for with a word on standard error, until somebody interrupts', async () => {
    const { named, start } = await createOperator();
    await start();
    const closed = { ...NO_ACCOUNT, ...named, QDRANT_URL: 'http://127.0.0.1:9' };
    const child = spawn(process.execPath, [COMMAND, 'preflight', ...OF_RUN], {
      env: closed,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let told = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      told += text;
      // The first of two: nobody is there any more to hear the second.
      if (text.includes('waiting')) child.kill('SIGINT');
    });
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(told).toMatch(/^waiting for the vector store of QDRANT_URL, up to 30 s \(GET .*\)\n/);
    expect(told).toMatch(/\nInterrupted: the same command goes on from there\.\n$/);
  });

  it('is told at once where it is the database', async () => {
    const closed = { TABLE_NAME: 'table', DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' };
    const { code, stderr } = await migrateWith(closed, 'status');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^RetryableUnavailable: .*127/)]);
  });
});
