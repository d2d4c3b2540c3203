// Addresses that no browser speaks to and that are closed to other users: sockets in a folder of this user alone.
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Running } from '../processes/running.ts';

/** The shortest limit of all systems, in bytes. A longer path is cut off, or refused. */
const MAX_SOCKET_PATH = 103;
/** Longer than every name of a socket and of its folder. */
const MAX_NAME = 30;
const SHORT_FOLDER = '/tmp';

/** @returns the path of the socket of a name; nothing listens there yet */
export async function openPrivateSockets(
  running: Running,
  { platform = process.platform, folder = tmpdir() } = {},
): Promise<(name: string) => string> {
  // Windows has named pipes instead, which are in no folder.
  if (platform === 'win32') {
    const id = randomUUID();
    return (name) => `\\\\.\\pipe\\ledger-${id}-${name}`;
  }
  const isShort = Buffer.byteLength(folder) + MAX_NAME <= MAX_SOCKET_PATH;
  const own = await running.temporaryFolder('ledger-', isShort ? folder : SHORT_FOLDER);
  return (name) => join(own, name);
}
