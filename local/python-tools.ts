// Python programs for tests and CI. Each requirements file in local/python gets a virtual environment below .local.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Running } from './running.ts';
import { fetchOnce, outputOf } from './tools.ts';

const REQUIREMENTS = join(import.meta.dirname, 'python');
const OLDEST_MINOR = 11;

/** Why the programs cannot run on this machine; undefined where they can. */
export function whyNoPython(): string | undefined {
  const minor = /^Python 3\.(\d+)/.exec(outputOf('python3', '--version') ?? '')?.[1];
  if (minor === undefined || Number(minor) < OLDEST_MINOR) {
    return `there is no Python 3.${OLDEST_MINOR} or newer`;
  }
  const canCreate = outputOf('python3', '-c', 'import ensurepip, venv') !== undefined;
  return canCreate ? undefined : 'Python has no venv module';
}

/**
 * The interpreter that has the packages of `local/python/<name>.txt`. Run their programs with `-m`.
 * @throws StartError
 */
export async function pythonWith(running: Running, name: string): Promise<string> {
  const file = join(REQUIREMENTS, `${name}.txt`);
  const version = createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 12);
  const folder = await fetchOnce(running, `python/${name}-${version}`, async (draft, run) => {
    await run('python3', '-m', 'venv', draft);
    await run(
      join(draft, 'bin/python'),
      ...['-m', 'pip', '--disable-pip-version-check', 'install', '--quiet'],
      // Compiled is only what a program imports, when it does so.
      ...['--no-deps', '--no-compile', '--requirement', file],
    );
    return draft;
  });
  return join(folder, 'bin/python');
}
