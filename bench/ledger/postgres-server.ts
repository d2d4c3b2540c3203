// The bench's own PostgreSQL server. Its data is in a temporary folder, which is removed when the bench ends.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ChildCommand } from '../../processes/child-process.ts';
import { findFreePort } from '../../processes/free-port.ts';
import type { BenchRun } from './bench-run.ts';

const execute = promisify(execFile);

/** PostgreSQL refuses to run as root. It runs as this user instead, which the packages of PostgreSQL create. */
const UNPRIVILEGED_USER = 'postgres';
const USER = 'bench';

// The cache is larger than the data. Every query is planned for its own values, because a generic plan would be worse.
const SETTINGS = [
  'shared_buffers=1GB',
  'work_mem=64MB',
  'maintenance_work_mem=256MB',
  'plan_cache_mode=force_custom_plan',
  'fsync=off',
];

export interface PostgresServer {
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

/** Says why no server can run on this machine; undefined if a server can run. */
export async function whyPostgresUnavailable(): Promise<string | undefined> {
  if ((await findProgramFolder()) === undefined) return 'PostgreSQL is not on this machine';
  if (!isRoot()) return undefined;
  const user = await execute('id', [UNPRIVILEGED_USER]).catch(() => undefined);
  return user ? undefined : `PostgreSQL refuses root, and there is no user ${UNPRIVILEGED_USER}`;
}

/** Starts the server with an empty database. @throws Error with the server's last output, if the server does not start */
export async function startPostgres(run: BenchRun): Promise<PostgresServer> {
  const programFolder = (await findProgramFolder()) ?? '';
  const folder = await run.resources.createTemporaryFolder('ledger-bench-');
  if (isRoot()) await execute('chown', [UNPRIVILEGED_USER, folder]);
  const cluster = join(folder, 'cluster');
  const initialise = dropPrivileges(join(programFolder, 'initdb'), [
    ...['--pgdata', cluster, '--username', USER, '--auth', 'trust'],
    ...['--encoding', 'UTF8', '--locale', 'C', '--no-sync'],
  ]);
  await execute(initialise.command, initialise.args, { cwd: folder });
  const port = await findFreePort();
  await startServer(run, {
    ...dropPrivileges(join(programFolder, 'postgres'), [
      ...['-D', cluster, '-h', '127.0.0.1', '-p', String(port), '-k', folder],
      ...SETTINGS.flatMap((setting) => ['-c', setting]),
    ]),
    folder,
  });
  return { port, user: USER, database: 'postgres' };
}

async function startServer({ resources }: BenchRun, command: ChildCommand): Promise<void> {
  let lastLine = '';
  const { promise: ready, resolve } = Promise.withResolvers<undefined>();
  const onLine = (line: string) => {
    lastLine = line;
    if (line.includes('ready to accept connections')) resolve(undefined);
  };
  const child = resources.startProgram({ ...command, onLine, graceMilliseconds: 5_000 });
  const ending = await Promise.race([ready, child.ended]);
  if (ending !== undefined) throw new Error(`PostgreSQL ${ending}: ${lastLine}`);
}

/** Finds the folder of `initdb` and `postgres`: the newest of Debian's folders, or a folder in PATH. */
async function findProgramFolder(): Promise<string | undefined> {
  const versions = await Array.fromAsync(glob('/usr/lib/postgresql/*/bin'));
  const folders = [...versions.sort().reverse(), ...(process.env.PATH ?? '').split(':')];
  return folders.find((folder) =>
    ['initdb', 'postgres'].every((name) => existsSync(join(folder, name))),
  );
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function dropPrivileges(command: string, args: string[]) {
  if (!isRoot()) return { command, args };
  const user = ['--reuid', UNPRIVILEGED_USER, '--regid', UNPRIVILEGED_USER, '--clear-groups'];
  return { command: 'setpriv', args: [...user, '--', command, ...args] };
}
