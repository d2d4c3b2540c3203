// A real Qdrant: the server at QDRANT_URL, or else the program that QDRANT_BIN names, or `qdrant` on the path, with its data in
// a temporary folder.
import { accessSync, constants } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { UserError } from '../../lib/shared/user-error.ts';
import { awaitResponse } from '../../processes/await-response.ts';
import type { Child } from '../../processes/child-process.ts';
import { findFreePort } from '../../processes/free-port.ts';
import type { Resources } from '../../processes/resources.ts';
import type { Service } from '../../processes/service.ts';

export const qdrantServer: Service = {
  title: 'Qdrant',
  whyUnavailable() {
    if (process.env.QDRANT_URL || findQdrantProgram()) return undefined;
    return 'neither QDRANT_URL nor QDRANT_BIN is set, and there is no qdrant on the path';
  },
  async start(resources) {
    const { QDRANT_URL } = process.env;
    const program = findQdrantProgram();
    const environment = program ? { QDRANT_BIN: program } : {};
    if (QDRANT_URL) {
      return { environment: { ...environment, QDRANT_URL }, ended: new Promise(() => {}) };
    }
    const { url, child } = await startQdrant(resources);
    return { environment: { ...environment, QDRANT_URL: url }, ended: child().ended };
  },
};

export interface QdrantServer {
  readonly url: string;
  readonly folder: string;
  readonly child: () => Child;
  /** Kills the server, as a crash would, and restarts it with the same data and address. */
  killAndRestart(): Promise<void>;
}

/**
 * Returns the absolute path of the program that QDRANT_BIN names, or of `qdrant` on the path; undefined if there is neither.
 */
function findQdrantProgram(): string | undefined {
  const { QDRANT_BIN, PATH = '' } = process.env;
  if (QDRANT_BIN) return resolve(QDRANT_BIN);
  return PATH.split(delimiter)
    .map((folder) => resolve(folder, 'qdrant'))
    .find(isExecutable);
}

function requireQdrantProgram(): string {
  const program = findQdrantProgram();
  if (program !== undefined) return program;
  throw new UserError('There is no Qdrant program: set QDRANT_BIN to the path of one.');
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Starts a new Qdrant server. @throws UserError if there is no program, or the server does not start */
export async function startQdrant(resources: Resources): Promise<QdrantServer> {
  const program = requireQdrantProgram();
  const folder = await resources.createTemporaryFolder('qdrant-');
  const [port, grpcPort] = [await findFreePort(), await findFreePort()];
  const url = `http://127.0.0.1:${port}`;
  let child: Child;

  async function start(): Promise<void> {
    let lastLine = '';
    child = resources.startProgram({
      command: program,
      args: [],
      folder,
      environment: {
        ...process.env,
        QDRANT__SERVICE__HOST: '127.0.0.1',
        QDRANT__SERVICE__HTTP_PORT: String(port),
        QDRANT__SERVICE__GRPC_PORT: String(grpcPort),
        QDRANT__STORAGE__STORAGE_PATH: join(folder, 'storage'),
        QDRANT__STORAGE__SNAPSHOTS_PATH: join(folder, 'snapshots'),
        QDRANT__TELEMETRY_DISABLED: 'true',
      },
      graceMilliseconds: 5_000,
      onLine: (line) => {
        lastLine = line || lastLine;
      },
    });
    if (await awaitResponse(`${url}/readyz`, child)) return;
    throw new UserError(`Qdrant did not start: ${lastLine}`);
  }

  await start();
  return {
    url,
    folder,
    child: () => child,
    async killAndRestart() {
      process.kill(child.pid, 'SIGKILL');
      await child.ended;
      await start();
    },
  };
}
