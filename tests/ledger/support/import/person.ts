// A person who runs `npm run import` against their own ledger.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { runCommand } from '../../../shared/support/command.ts';
import type { TestTable } from '../../../shared/support/test-table.ts';
import type { ApiResponse } from '../api/api-client.ts';
import { openInProcess } from '../api/in-process-client.ts';
import { createServiceOn } from '../api/open-api.ts';
import { serve } from '../api/serve.ts';

interface Row {
  readonly id: number;
  readonly description: string;
  readonly amount: number;
  readonly type: string;
  readonly transaction_date: string;
  readonly category_name?: string;
}

type HandleRequest = (request: string, forward: () => Promise<ApiResponse>) => Promise<ApiResponse>;

let people = 0;

/** Starts a server for the person's ledger, which stops at the end of the test; the person's files are then removed. */
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

  /** Runs the command against a service whose requests, such as `GET /imports`, `handleRequest` handles. */
  async function runThrough(handleRequest: HandleRequest, ...args: string[]) {
    const interceptedApi: typeof api = {
      ...api,
      request: async (method, path, options) =>
        await handleRequest(`${method} ${path}`, () => api.request(method, path, options)),
    };
    const service = await serve(() => interceptedApi);
    try {
      return await run('--url', service.url, ...args);
    } finally {
      await service.close();
    }
  }

  /** Runs the command against a service that serves `servedCount` requests of one kind, and refuses all later ones of that kind. */
  async function runInterrupted(request: string, servedCount: number, ...args: string[]) {
    let remaining = servedCount;
    const handleRequest: HandleRequest = async (received, forward) => {
      if (request === received) remaining -= 1;
      // Requests of other kinds are still served.
      return request === received && remaining < 0 ? await refuse() : await forward();
    };
    return await runThrough(handleRequest, ...args);
  }

  const refuse = async () => await api.request('GET', '/no-such-route');

  async function write(name: string, content: readonly string[] | Uint8Array): Promise<string> {
    const file = join(folder, name);
    await writeFile(file, content instanceof Uint8Array ? content : content.join('\n'));
    return file;
  }

  async function readRows(): Promise<readonly Row[]> {
    return (await api.get('/transactions/export', { format: 'json' })).body.data;
  }

  async function findRow(text: string): Promise<Row> {
    const row = (await readRows()).find(({ description }) => description === text);
    if (!row) throw new Error(`No row ${text}`);
    return row;
  }

  return { api, run, runThrough, runInterrupted, refuse, write, readRows, findRow };
}

/** Finds the id of an import in the last line of the command's output, which says how to undo the import. */
export function findImportId({ stdout }: { readonly stdout: string }): string {
  return /--undo (\S+) removes/.exec(stdout)?.[1] ?? '';
}
