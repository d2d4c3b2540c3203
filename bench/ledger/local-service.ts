// Starts the local service with an empty ledger in memory.
import { UserError } from '../../lib/shared/user-error.ts';
import { findFreePort } from '../../processes/free-port.ts';
import type { Resources } from '../../processes/resources.ts';
import { PROJECT } from '../versions.ts';

export interface LocalService {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

export async function startService(resources: Resources): Promise<LocalService> {
  const { promise: ready, resolve, reject } = Promise.withResolvers<string>();
  const child = resources.startProgram({
    command: process.execPath,
    args: ['local/start.ts'],
    folder: PROJECT,
    environment: { ...process.env, DATA_DIR: 'memory', PORT: String(await findFreePort()) },
    onLine: (line) => {
      const url = /^ready (http:\S+)$/.exec(line)?.[1];
      if (url) resolve(url);
    },
  });
  child.ended.then((ending) => reject(new UserError(`The service ${ending}`)));
  return { url: await ready, stop: child.stop };
}
