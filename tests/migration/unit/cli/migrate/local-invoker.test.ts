// A command without a stage runs the functions in its own process, and opens the table of runs.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openLocalInvoker } from '../../../../../cli/migration/migrate/local-invoker.ts';
import { openDataFolder } from '../../../../../local/data-folder.ts';

/** Starts a server that takes requests and never answers. */
async function startSilentDatabase(): Promise<string> {
  const server = createServer(() => {});
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return `http://127.0.0.1:${address.port}`;
}

it('a command waits for a silent database at most as long as "npm start" does', async () => {
  const path = mkdtempSync(join(tmpdir(), 'local-invoker-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  const folder = openDataFolder(path);
  onTestFinished(folder.release);
  folder.recordEndpoint(await startSilentDatabase());
  for (const [name, value] of [
    ['DATA_DIR', path],
    ['TABLE_NAME', 'runs'],
    ['DYNAMODB_ENDPOINT', undefined],
  ] as const) {
    vi.stubEnv(name, value);
  }
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
  const resources = { onStop: () => {} };
  const invoker = openLocalInvoker({
    resources: resources as unknown as Parameters<typeof openLocalInvoker>[0]['resources'],
    needs: 'record',
    signal: new AbortController().signal,
    onWaiting: () => {},
    log: () => {},
  });
  await expect(invoker).rejects.toThrow(/table runs\..*does not answer/);
  expect(timeout).toHaveBeenCalledWith(30_000);
});
