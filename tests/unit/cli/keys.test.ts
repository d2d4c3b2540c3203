// How `npm run keys` reads the ledger that a key opens, before it reaches a database.
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../../local/processes/free-port.ts';
import { BARE_ENVIRONMENT } from '../../support/bare-environment.ts';

const COMMAND = join(import.meta.dirname, '../../../cli/keys.ts');

function run(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const env = { ...BARE_ENVIRONMENT, DATA_DIR: '/nowhere', ...environment };
    execFile(process.execPath, [COMMAND, ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
  });
}

it('ends with 2 and names --ledger where its value cannot be used', async () => {
  const { code, stderr } = await run(['create', '--name', 'phone', '--ledger', 'a b']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--ledger')]);
  expect(stderr).not.toContain('LEDGER_ID');
});

it('reads LEDGER_ID for a key without --ledger', async () => {
  const { code, stderr } = await run(['create', '--name', 'phone'], { LEDGER_ID: 'a b' });
  expect([code, stderr]).toEqual([1, expect.stringContaining('LEDGER_ID')]);
});

it('says how to reach a database in memory', async () => {
  const { code, stderr } = await run(['list'], { DATA_DIR: 'memory' });
  expect([code, stderr]).toEqual([1, expect.stringContaining('Set DYNAMODB_ENDPOINT')]);
});

describe('a table that does not exist', () => {
  const access = {
    ...{ AWS_REGION: 'eu-west-3', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' },
  };

  it('is named with its address and the stage to check', async () => {
    const url = await startWithoutTables();
    const ended = await run(['list', '--stage', 'nosuch'], { ...access, AWS_ENDPOINT_URL: url });
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('the stage') });
    for (const word of ['finance-ledger-nosuch', url, 'eu-west-3'])
      expect(ended.stderr).toContain(word);
  });

  it('is named with its address and the settings of a local database', async () => {
    const url = await startWithoutTables();
    const local = { ...access, DYNAMODB_ENDPOINT: url, TABLE_NAME: 'nosuch' };
    const ended = await run(['list'], local);
    expect(ended).toMatchObject({ code: 1, stderr: expect.not.stringContaining('stage') });
    for (const word of ['nosuch', url, 'eu-west-3', 'DYNAMODB_ENDPOINT'])
      expect(ended.stderr).toContain(word);
  });
});

describe('a database that cannot be reached', () => {
  const access = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };

  it.each([
    ['AWS_ENDPOINT_URL', ['--stage', 'dev']],
    ['DYNAMODB_ENDPOINT', []],
  ])('is named with its address and %s', async (variable, options) => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, stderr } = await run(['list', ...options], { ...access, [variable]: url });
    expect(code).toBe(1);
    for (const word of [url, 'ECONNREFUSED', `Check ${variable}`]) expect(stderr).toContain(word);
  });

  it('for want of credentials is named with the command that shows them', async () => {
    const none = { AWS_EC2_METADATA_DISABLED: 'true', HOME: '/nowhere' };
    const { code, stderr } = await run(['list', '--stage', 'dev'], none);
    expect(code).toBe(1);
    for (const word of ['finance-ledger-dev', 'AWS_PROFILE', 'aws sts get-caller-identity'])
      expect(stderr).toContain(word);
  });
});

it('ends with 2 and the usage where no command is given', async () => {
  const { code, stdout, stderr } = await run([]);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^Usage: npm run keys -- /);
  expect(stderr).not.toContain('(outputHelp)');
});

it.each(['', ' ', 'x'.repeat(101), 'two\nlines', 'a\u0007b', 'a\u2028b'])(
  'refuses the name %j of a key',
  async (name) => {
    const { code, stderr } = await run(['create', '--name', name]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Use 1 to 100 characters')]);
  },
);

/** @returns the address of a database */
async function startWithoutTables(): Promise<string> {
  const dynamodb = createServer((_, response) => {
    response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
    response.end('{"__type":"ResourceNotFoundException","message":"Requested resource not found"}');
  });
  await new Promise<void>((resolve) => dynamodb.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void dynamodb.close());
  return `http://127.0.0.1:${(dynamodb.address() as AddressInfo).port}`;
}

it('reads LEDGER_ID for nothing else', async () => {
  const { code } = await run(['create', '--help'], { LEDGER_ID: 'a b' });
  expect(code).toBe(0);
});
