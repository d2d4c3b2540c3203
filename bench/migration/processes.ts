// The processes of the migration bench: the sandbox, and a worker for each copy.
import { fileURLToPath } from 'node:url';
import { type Child, startChild } from '../../processes/child-process.ts';
import type { CopyMethod, Measured } from './worker.ts';

// Limits the heap as in a small deployed function. The copy's live data takes about 11 MB. On a large machine without limits, V8
// would let garbage grow far beyond that before collecting it.
export const SMALL_FUNCTION_HEAP = ['--max-old-space-size=160', '--max-semi-space-size=8'];

export interface ServedSandbox {
  readonly url: string;
  readonly child: Child;
}

export function startSandboxProcess(): Promise<ServedSandbox> {
  return new Promise((resolve, reject) => {
    const child = startChild({
      command: process.execPath,
      args: ['--max-old-space-size=4096', resolvePath('../../sandbox/qdrant/serve.ts')],
      onLine: (line) => {
        const url = /http:\S+/.exec(line)?.[0];
        if (url) resolve({ url, child });
      },
    });
    child.ended.then((ending) => reject(new Error(`The sandbox ${ending}`)));
  });
}

/** Runs a worker, and reads the figures that the worker prints. @throws Error with the worker's output if it fails */
export async function measureWorker(
  method: CopyMethod,
  ...workerArgs: readonly string[]
): Promise<Measured> {
  const lines: string[] = [];
  const args = [...SMALL_FUNCTION_HEAP, resolvePath('./worker.ts'), method, ...workerArgs];
  const child = startChild({
    command: process.execPath,
    args,
    onLine: (line) => void lines.push(line),
  });
  const ending = await child.ended;
  const measured = lines.find((line) => line.startsWith('{"milliseconds"'));
  if (!measured) throw new Error(`The ${method} worker ${ending}\n${lines.join('\n')}`);
  return JSON.parse(measured) as Measured;
}

function resolvePath(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
