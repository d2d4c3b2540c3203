// A real Qdrant: the one of QDRANT_URL, or the program of QDRANT_BIN over a temporary folder.
import { join, resolve } from 'node:path';
import { awaitAnswer } from '../../local/processes/await-answer.ts';
import { freePort } from '../../local/processes/free-port.ts';
import type { Running } from '../../local/processes/running.ts';
import type { Service, StartedService } from '../../local/processes/service.ts';
import { StartError } from '../../local/processes/start-error.ts';

export const qdrantServer: Service = {
  title: 'Qdrant',
  obstacle() {
    const { QDRANT_URL, QDRANT_BIN } = process.env;
    return QDRANT_URL || QDRANT_BIN ? undefined : 'neither QDRANT_URL nor QDRANT_BIN is set';
  },
  start,
};

async function start(running: Running): Promise<StartedService> {
  const { QDRANT_URL, QDRANT_BIN = '' } = process.env;
  if (QDRANT_URL) return { environment: { QDRANT_URL }, ended: new Promise(() => {}) };
  const folder = await running.temporaryFolder('qdrant-');
  const [port, grpcPort] = [await freePort(), await freePort()];
  let lastLine = '';
  const child = running.startProgram({
    command: resolve(QDRANT_BIN),
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
  const url = `http://127.0.0.1:${port}`;
  if (!(await awaitAnswer(`${url}/readyz`, child))) {
    throw new StartError(`Qdrant did not start: ${lastLine}`);
  }
  return { environment: { QDRANT_URL: url }, ended: child.ended };
}
