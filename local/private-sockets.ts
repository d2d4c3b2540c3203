// Addresses that no browser and no other user can reach: sockets in a folder that only this user can open.
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Resources } from '../processes/resources.ts';

/** Maximum length of a socket's path, on the system with the lowest limit. A longer path is cut off or refused. */
const MAX_PATH_BYTES = 103;
/** Maximum length of the names of a socket and its folder together. */
const MAX_NAME_BYTES = 30;
const SHORT_FOLDER = '/tmp';

/** @returns a function that turns a name into the path of a socket, on which nothing listens yet */
export async function createSocketPaths(
  resources: Resources,
  { platform = process.platform, folder = tmpdir() } = {},
): Promise<(name: string) => string> {
  // Windows has named pipes instead. They are not files in a folder.
  if (platform === 'win32') {
    const id = randomUUID();
    return (name) => `\\\\.\\pipe\\ledger-${id}-${name}`;
  }
  const isShort = Buffer.byteLength(folder) + MAX_NAME_BYTES <= MAX_PATH_BYTES;
  const privateFolder = await resources.createTemporaryFolder(
    'ledger-',
    isShort ? folder : SHORT_FOLDER,
  );
  return (name) => join(privateFolder, name);
}
