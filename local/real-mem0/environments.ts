// Python environments with mem0 of both major versions, from PyPI, made once and kept in .local.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Running } from '../running.ts';
import type { Service } from '../service.ts';
import { fetchOnce, outputOf } from '../tools.ts';

export type Mem0Major = 1 | 2;

const NEEDED = [3, 10] as const;

/** Starts nothing: the environment names the Python of each version. */
export const mem0Environments: Service = {
  title: 'mem0 1.x and 2.x',
  obstacle: whyNoPython,
  async start(running) {
    const MEM0_1_PYTHON = await pythonOf(running, 1);
    const MEM0_2_PYTHON = await pythonOf(running, 2);
    return { environment: { MEM0_1_PYTHON, MEM0_2_PYTHON }, ended: new Promise(() => {}) };
  },
};

function whyNoPython(): string | undefined {
  const [, major = 0, minor = 0] =
    /(\d+)\.(\d+)/.exec(outputOf('python3', '--version') ?? '') ?? [];
  const isEnough = Number(major) === NEEDED[0] && Number(minor) >= NEEDED[1];
  return isEnough ? undefined : `there is no Python ${NEEDED.join('.')} or newer`;
}

async function pythonOf(running: Running, major: Mem0Major): Promise<string> {
  const requirements = join(import.meta.dirname, `requirements-${major}.txt`);
  const digest = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex');
  const folder = await fetchOnce(
    running,
    `mem0/${major}-${digest.slice(0, 12)}`,
    async (draft, run) => {
      const environment = join(draft, 'environment');
      await run('python3', '-m', 'venv', environment);
      const pip = ['-m', 'pip', 'install', '--quiet', '--requirement', requirements];
      await run(join(environment, 'bin/python'), ...pip);
      return environment;
    },
  );
  return join(folder, 'bin/python');
}
