// Python environments with mem0 of both major versions, from PyPI, made once and kept in .local.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { Service } from '../service.ts';
import { fetchOnce, outputOf } from '../tools.ts';

export type Mem0Major = 1 | 2;

const NEEDED = [3, 10] as const;

/** Starts nothing: the environment names the Python of each version. */
export const mem0Environments: Service = {
  title: 'mem0 1.x and 2.x',
  obstacle: whyNoPython,
  async start() {
    const [MEM0_1_PYTHON, MEM0_2_PYTHON] = [await pythonOf(1), await pythonOf(2)];
    return { environment: { MEM0_1_PYTHON, MEM0_2_PYTHON }, ended: new Promise(() => {}) };
  },
};

function whyNoPython(): string | undefined {
  const [, major = 0, minor = 0] =
    /(\d+)\.(\d+)/.exec(outputOf('python3', '--version') ?? '') ?? [];
  const isEnough = Number(major) === NEEDED[0] && Number(minor) >= NEEDED[1];
  return isEnough ? undefined : `there is no Python ${NEEDED.join('.')} or newer`;
}

async function pythonOf(major: Mem0Major): Promise<string> {
  const requirements = join(import.meta.dirname, `requirements-${major}.txt`);
  const digest = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex');
  const folder = await fetchOnce(`mem0/${major}-${digest.slice(0, 12)}`, async (draft) => {
    const run = promisify(execFile);
    const environment = join(draft, 'environment');
    await run('python3', ['-m', 'venv', environment]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--requirement', requirements];
    await run(join(environment, 'bin/python'), pip);
    return environment;
  });
  return join(folder, 'bin/python');
}
