// How `npm run keys` reads the ledger that a key opens, before it reaches a database.
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

const COMMAND = join(import.meta.dirname, '../../../local/keys.ts');

function run(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const env = { PATH: process.env.PATH, DATA_DIR: '/nowhere', ...environment };
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
