// Runs a program in its own network namespace, because the program listens on a port without any access check. The port exists
// only inside that network. A bridge forwards connections from a private socket to the port.
import { join } from 'node:path';
import { readOutput } from '../processes/tools.ts';

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly folder?: string;
}

/** A port above those that systems assign automatically. In a new network, it is always free. */
export const ISOLATED_PORT = 65_000;

const BRIDGE = join(import.meta.dirname, 'bridge.ts');

// Root needs no user namespace. In a user namespace, root would lose access to the files of other users.
const NAMESPACES = [['--net'], ['--map-root-user', '--net']];

// The folder of `ip` is not in every user's PATH.
const WITH_LOOPBACK = '(PATH=$PATH:/usr/sbin:/sbin; ip link set lo up) && exec "$@"';

/**
 * Finds a way to run a program in its own network.
 * @returns undefined if this user cannot create a network: outside Linux, in most containers, and if user namespaces are switched
 * off
 */
export function findIsolation(): ((program: Program, socket: string) => Program) | undefined {
  const isolationArgs = NAMESPACES.map((namespaceArgs) => [
    ...namespaceArgs,
    'sh',
    '-c',
    WITH_LOOPBACK,
    'isolated',
  ]).find((args) => readOutput('unshare', ...args, 'true') !== undefined);
  return (
    isolationArgs &&
    (({ command, args, folder }, socket) => ({
      command: 'unshare',
      args: [
        ...isolationArgs,
        ...[process.execPath, BRIDGE, socket, String(ISOLATED_PORT)],
        ...[command, ...args],
      ],
      ...(folder && { folder }),
    }))
  );
}
