// How `npm run keys` reads the ledger that a key opens, before it reaches a database.
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

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

it('says what to check where a stage has no table', async () => {
  const dynamodb = createServer((_, response) => {
    response.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' });
    response.end('{"__type":"ResourceNotFoundException","message":"Requested resource not found"}');
  });
  await new Promise<void>((resolve) => dynamodb.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void dynamodb.close());
  const { port } = dynamodb.address() as AddressInfo;
  const { code, stderr } = await run(['list', '--stage', 'nosuch'], {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    ...{ AWS_REGION: 'eu-west-3', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' },
  });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/table does not exist.*eu-west-3/)]);
});

it('reads LEDGER_ID for nothing else', async () => {
  const { code } = await run(['create', '--help'], { LEDGER_ID: 'a b' });
  expect(code).toBe(0);
});
