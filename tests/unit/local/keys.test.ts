// How `npm run keys` reads the ledger that a key opens, before it reaches a database.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

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

it('reads LEDGER_ID for nothing else', async () => {
  const { code } = await run(['create', '--help'], { LEDGER_ID: 'a b' });
  expect(code).toBe(0);
});
