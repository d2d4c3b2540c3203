// A memory service over real mem0 at one address. It deploys a version and a collection by restarting its process.
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hooks } from '../../../lib/migration/ports/hooks.ts';
import { UserError } from '../../../lib/shared/user-error.ts';
import { awaitAnswer } from '../../../processes/await-answer.ts';
import { type Child, startChild } from '../../../processes/child-process.ts';
import { freePort } from '../../../processes/free-port.ts';
import type { Mem0Major } from './environments.ts';

const BACKEND = join(import.meta.dirname, 'backend.py');

export interface Mem0Options {
  readonly qdrant: { readonly url: string; readonly apiKey?: string };
  readonly dimensions: number;
  /** Users by their keys. */
  readonly users: Readonly<Record<string, string>>;
}

/** Who may write: all users, one user alone, or no user until a time. */
export type Mem0Writers =
  | 'all-users'
  | { readonly only: string }
  | { readonly frozenUntil: number };

export interface Mem0Service {
  readonly url: string;
  /** The service does not answer meanwhile. @throws UserError */
  deploy(major: Mem0Major, collection: string): Promise<void>;
  setWriters(writers: Mem0Writers): Promise<void>;
  close(): Promise<void>;
}

/** @throws UserError where the Python of a version is not named, see `mem0Environments` */
export async function startMem0Service(options: Mem0Options): Promise<Mem0Service> {
  const folder = await mkdtemp(join(tmpdir(), 'mem0-'));
  const [settings, state] = [join(folder, 'settings.json'), join(folder, 'state.json')];
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let child: Child | undefined;

  async function deploy(major: Mem0Major, collection: string): Promise<void> {
    await child?.stop();
    const history = join(folder, `version-${major}`);
    await mkdir(history, { recursive: true });
    await write(settings, { ...options, port, collection, folder: history, state });
    let lastLine = '';
    child = startChild({
      command: pythonPath(major),
      args: [BACKEND, settings],
      // The keyword model's folder goes with the service's.
      environment: { ...process.env, TMPDIR: folder },
      // It finishes the requests in progress before it ends.
      graceMilliseconds: 30_000,
      onLine: (line) => {
        lastLine = line || lastLine;
      },
    });
    const answer = await awaitAnswer(`${url}/health`, child);
    // Another program that had taken the port would answer otherwise.
    if (answer?.status !== 200 || !answer.body.includes('mem0')) {
      throw new UserError(`The memory service did not start: ${lastLine}`);
    }
  }

  const setWriters = (writers: Mem0Writers) => write(state, writers === 'all-users' ? {} : writers);
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

/** The actions that the migration asks of the service's operator. @param old the version before the migration */
export function mem0Hooks(service: Mem0Service, old: Mem0Major): Hooks {
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

function pythonPath(major: Mem0Major): string {
  const name = `MEM0_${major}_PYTHON`;
  const python = process.env[name];
  if (!python)
    throw new UserError(`${name} is not set: "npm run test:real" makes both environments`);
  return python;
}

// The backend may read the file at any moment, so it is replaced as a whole.
async function write(file: string, value: object): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(value));
  await rename(`${file}.new`, file);
}
