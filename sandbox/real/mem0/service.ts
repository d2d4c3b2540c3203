// A memory service with real mem0, always at the same address. A deployment of another version or collection restarts its
// process.
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hooks } from '../../../lib/migration/ports/hooks.ts';
import { UserError } from '../../../lib/shared/user-error.ts';
import { awaitResponse } from '../../../processes/await-response.ts';
import { type Child, startChild } from '../../../processes/child-process.ts';
import { findFreePort } from '../../../processes/free-port.ts';
import type { Mem0Major } from './environments.ts';

const BACKEND = join(import.meta.dirname, 'backend.py');

export interface Mem0Options {
  readonly qdrant: { readonly url: string; readonly apiKey?: string };
  readonly dimensions: number;
  /** Users by their API keys. */
  readonly users: Readonly<Record<string, string>>;
}

/** The users whose writes are accepted: all users, one user alone, or no user until a time. */
export type Mem0Writers =
  | 'all-users'
  | { readonly only: string }
  | { readonly frozenUntil: number };

export interface Mem0Service {
  readonly url: string;
  /**
   * Restarts the service with this version and collection; the service does not respond meanwhile.
   * @throws UserError if it does not start
   */
  deploy(major: Mem0Major, collection: string): Promise<void>;
  setWriters(writers: Mem0Writers): Promise<void>;
  close(): Promise<void>;
}

/** Does not start a backend: the first deployment does. */
export async function startMem0Service(options: Mem0Options): Promise<Mem0Service> {
  const folder = await mkdtemp(join(tmpdir(), 'mem0-'));
  const [settings, state] = [join(folder, 'settings.json'), join(folder, 'state.json')];
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  let child: Child | undefined;

  async function deploy(major: Mem0Major, collection: string): Promise<void> {
    await child?.stop();
    const versionFolder = join(folder, `version-${major}`);
    await mkdir(versionFolder, { recursive: true });
    await replaceFile(settings, { ...options, port, collection, folder: versionFolder, state });
    let lastLine = '';
    child = startChild({
      command: readPythonPath(major),
      args: [BACKEND, settings],
      // Puts the keyword model's folder into the service's, so that both are removed together.
      environment: { ...process.env, TMPDIR: folder },
      // The backend finishes the requests in progress before it ends.
      graceMilliseconds: 30_000,
      onLine: (line) => {
        lastLine = line || lastLine;
      },
    });
    const response = await awaitResponse(`${url}/health`, child);
    // The response must mention mem0: another program may have taken the port.
    if (response?.status !== 200 || !response.body.includes('mem0')) {
      throw new UserError(`The memory service did not start: ${lastLine}`);
    }
  }

  const setWriters = (writers: Mem0Writers) =>
    replaceFile(state, writers === 'all-users' ? {} : writers);
  await setWriters('all-users');
  return {
    url,
    deploy,
    setWriters,
    async close() {
      await child?.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Performs the actions that the migration requests from the service's operator. @param old the version before the migration */
export function createMem0Hooks(service: Mem0Service, old: Mem0Major): Hooks {
  return {
    async ask({ action, collection, testUser, deadlineAt = Number.MAX_SAFE_INTEGER }) {
      if (action === 'freeze') await service.setWriters({ frozenUntil: deadlineAt });
      if (action === 'open-writes') await service.setWriters('all-users');
      if (action === 'deploy-new') {
        await service.setWriters({ only: testUser });
        await service.deploy(2, collection);
      }
      if (action === 'deploy-old') await service.deploy(old, collection);
      return 'done';
    },
  };
}

function readPythonPath(major: Mem0Major): string {
  const name = `MEM0_${major}_PYTHON`;
  const python = process.env[name];
  if (!python)
    throw new UserError(`${name} is not set: "npm run test:real" creates both environments`);
  return python;
}

// The backend may read the file at any moment, so the file is replaced as a whole.
async function replaceFile(file: string, value: object): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(value));
  await rename(`${file}.new`, file);
}
