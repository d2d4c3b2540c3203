// Runs a program that listens on TCP without any access check in a network namespace: the port exists only inside that network,
// and a bridge forwards connections to it from a private socket.
import { join } from 'node:path';
import { readOutput } from '../processes/tools.ts';

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly folder?: string;
}

/** Free in every new network, and above the ports that systems assign automatically. */
export const ISOLATED_PORT = 65_000;

const BRIDGE = join(import.meta.dirname, 'bridge.ts');

// Root needs no user namespace, and would lose its access to other users' files in one.
const NAMESPACES = [['--net'], ['--map-root-user', '--net']];

// `ip` is not on the path of every user.
const WITH_LOOPBACK = '(PATH=$PATH:/usr/sbin:/sbin; ip link set lo up) && exec "$@"';

/**
 * Finds a way to run a program in its own network.
 * @returns undefined if this user cannot create a network on this machine: outside Linux, in most containers, and if user
 * namespaces are switched off
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
