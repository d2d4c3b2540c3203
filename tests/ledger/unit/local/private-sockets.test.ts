// Paths of private sockets: closed to other users, and short enough for every system.
import { once } from 'node:events';
import { mkdirSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { createSocketPaths } from '../../../../local/private-sockets.ts';
import { createTemporaryFolder } from '../../../shared/support/temporary-folder.ts';
import { createResourcesInTest } from '../../support/resources-in-test.ts';

it.for([1, 50, 100, 200])(
  'a program listens on a private socket below a folder of %i bytes',
  async (bytes) => {
    const folder = join(await createTemporaryFolder(), 'a'.repeat(bytes));
    mkdirSync(folder);
    const socket = (await createSocketPaths(createResourcesInTest(), { folder }))('database');
    expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(103);
    expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700);
    const server = createServer().listen(socket);
    await once(server, 'listening');
    server.close();
  },
);

it('private sockets are named pipes on Windows, with a new name for each start', async () => {
  const open = async () =>
    (await createSocketPaths(createResourcesInTest(), { platform: 'win32' }))('api');
  const names = [await open(), await open()];
  expect(names).toEqual(
    [0, 1].map(() => expect.stringMatching(/^\\\\\.\\pipe\\ledger-[\w-]+-api$/)),
  );
  expect(new Set(names).size).toBe(2);
});
