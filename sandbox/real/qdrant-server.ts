// A real Qdrant: the one of QDRANT_URL, or the program of QDRANT_BIN over a temporary folder.
import { join, resolve } from 'node:path';
import { awaitAnswer } from '../../local/processes/await-answer.ts';
import type { Child } from '../../local/processes/child-process.ts';
import { freePort } from '../../local/processes/free-port.ts';
import type { Running } from '../../local/processes/running.ts';
import type { Service } from '../../local/processes/service.ts';
import { StartError } from '../../local/processes/start-error.ts';

export const qdrantServer: Service = {
  title: 'Qdrant',
  obstacle() {
    const { QDRANT_URL, QDRANT_BIN } = process.env;
    return QDRANT_URL || QDRANT_BIN ? undefined : 'neither QDRANT_URL nor QDRANT_BIN is set';
  },
  async start(running) {
    const { QDRANT_URL } = process.env;
    if (QDRANT_URL) return { environment: { QDRANT_URL }, ended: new Promise(() => {}) };
    const { url, child } = await startQdrant(running);
    return { environment: { QDRANT_URL: url }, ended: child().ended };
  },
};

export interface QdrantServer {
  readonly url: string;
  readonly folder: string;
  readonly child: () => Child;
  /** As a crash does it. It comes back with its data, at the same address. */
  killAndRestart(): Promise<void>;
}

/** The program of QDRANT_BIN. @throws StartError */
export async function startQdrant(running: Running): Promise<QdrantServer> {
  const folder = await running.temporaryFolder('qdrant-');
  const [port, grpcPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  let child: Child;

  async function start(): Promise<void> {
    let lastLine = '';
    child = running.startProgram({
      command: resolve(process.env.QDRANT_BIN ?? ''),
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
    if (await awaitAnswer(`${url}/readyz`, child)) return;
    throw new StartError(`Qdrant did not start: ${lastLine}`);
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
