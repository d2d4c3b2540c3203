// Reads from Linux's /proc which TCP ports processes listen on, in any network namespace.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const LISTENING = '0A';

/** Lists the ports on which these processes listen, each port once. */
export function listPorts(processes: readonly { readonly pid: number }[]): number[] {
  return [...new Set(processes.flatMap(({ pid }) => listPortsOfProcess(pid)))].sort(
    (a, b) => a - b,
  );
}

function listPortsOfProcess(pid: number): number[] {
  const sockets = listSockets(pid);
  return ['tcp', 'tcp6'].flatMap((table) =>
    readRows(`/proc/${pid}/net/${table}`).flatMap((columns) => {
      const [, address = '', , state, , , , , , inode = ''] = columns;
      if (state !== LISTENING || !sockets.has(inode)) return [];
      return [Number.parseInt(address.split(':')[1] ?? '', 16)];
    }),
  );
}

function listSockets(pid: number): Set<string> {
  const folder = `/proc/${pid}/fd`;
  const links = readOrEmpty(() => readdirSync(folder)).flatMap((name) =>
    readOrEmpty(() => [readlinkSync(`${folder}/${name}`)]),
  );
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
}

function readRows(file: string): string[][] {
  const lines = readOrEmpty(() => readFileSync(file, 'utf8').trim().split('\n'));
  return lines.slice(1).map((line) => line.trim().split(/\s+/));
}

/** Returns nothing if the read fails, because a process may have ended since it was listed. */
function readOrEmpty<Value>(read: () => Value[]): Value[] {
  try {
    return read();
  } catch {
    return [];
  }
}
