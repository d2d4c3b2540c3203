// `npm run import` of 10,000 rows creates every row once, even if it is killed twice.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openService, PROJECT } from '../support/running-service.ts';

const ROWS = 10_000;
let service: Awaited<ReturnType<typeof openService>>;
let folder: string;
let file: string;

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'import-'));
  file = join(folder, 'bank.csv');
  const rows = Array.from({ length: ROWS }, (_, n) => {
    const day = new Date(Date.UTC(2016, 0, 1) + (n % 3_650) * 86_400_000).toISOString();
    // Some rows of a day are equal.
    return `${day.slice(0, 10)},Shop ${n % 7},${n % 5 === 0 ? '' : '-'}${((n % 400) + 1) / 4},Kind ${n % 12}`;
  });
  await writeFile(file, ['Date,Payee,Amount,Category', ...rows].join('\n'));
});

afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

function startImport(...options: readonly string[]) {
  const args = ['cli/ledger/import/import.ts', file, '--url', service.url, ...options];
  const child = spawn(process.execPath, args, { cwd: PROJECT });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const result = once(child, 'exit').then(([code]) => ({ code: code as number | null, output }));
  return { child, result };
}

async function countTransactions(): Promise<number> {
  const response = await fetch(`${service.url}/transactions?per_page=1`);
  const { pagination } = (await response.json()) as { pagination: { total: number } };
  return pagination.total;
}

async function killAfter(rows: number): Promise<void> {
  const { child, result } = startImport('--yes');
  await expect.poll(countTransactions, { interval: 20 }).toBeGreaterThan(rows);
  child.kill('SIGKILL');
  expect((await result).code).toBe(null);
}

it('an import that is killed twice imports each row once', async () => {
  await killAfter(1_000);
  await killAfter(4_000);
  expect(await countTransactions()).toBeLessThan(ROWS);
  const completed = await startImport('--yes').result;
  expect([completed.code, completed.output]).toEqual([0, expect.stringContaining(' 0 refused')]);
  expect(await countTransactions()).toBe(ROWS);
  const repeated = await startImport('--yes').result;
  expect(repeated.output).toContain(`0 created, ${ROWS} already existed, 0 refused`);
  expect(await countTransactions()).toBe(ROWS);
});
