// A person who runs `npm run import` against a ledger of their own.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { runCommand } from '../../../shared/support/command.ts';
import type { TestTable } from '../../../shared/support/test-table.ts';
import { openInProcess } from '../api/in-process-client.ts';
import { createServiceOn } from '../api/open-api.ts';
import { serve } from '../api/served.ts';

interface Row {
  readonly id: number;
  readonly description: string;
  readonly amount: number;
  readonly type: string;
  readonly transaction_date: string;
  readonly category_name?: string;
}

let people = 0;

/** Gone when the test ends, with files and server. */
export async function givenPerson(table: TestTable) {
  people += 1;
  const folder = await mkdtemp(join(tmpdir(), 'person-'));
  const api = await openInProcess(createServiceOn({ ...table, ledgerId: `person-${people}` }));
  const server = await serve(() => api);
  onTestFinished(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  function run(...args: string[]) {
    const environment = { XDG_CONFIG_HOME: folder };
    return runCommand('cli/ledger/import/import.ts', ['--url', server.url, ...args], environment);
  }

  /** Runs the command while the service refuses the key for one kind of request, after it has answered some of them. */
  async function runInterrupted(request: string, answered: number, ...args: string[]) {
    let left = answered;
    const interrupted: typeof api = {
      ...api,
      request: async (method, path, options) => {
        if (request === `${method} ${path}`) left -= 1;
        if (left < 0) return await api.request('GET', '/no-such-route');
        return await api.request(method, path, options);
      },
    };
    const other = await serve(() => interrupted);
    try {
      return await run('--url', other.url, ...args);
    } finally {
      await other.close();
    }
  }

  async function write(name: string, content: readonly string[] | Uint8Array): Promise<string> {
    const file = join(folder, name);
    await writeFile(file, content instanceof Uint8Array ? content : content.join('\n'));
    return file;
  }

  async function readRows(): Promise<readonly Row[]> {
    return (await api.get('/transactions/export', { format: 'json' })).body.data;
  }

  async function findRow(text: string): Promise<Row> {
    const found = (await readRows()).find(({ description }) => description === text);
    if (!found) throw new Error(`No row ${text}`);
    return found;
  }

  return { api, run, runInterrupted, write, readRows, findRow };
}

/** Finds the id of an import in its last line, which says how to undo it. */
export function importIdIn({ stdout }: { readonly stdout: string }): string {
  return /--undo (\S+) takes/.exec(stdout)?.[1] ?? '';
}
