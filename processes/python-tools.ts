// Installs Python programs for tests and CI. Each requirements file gets a virtual environment below .local.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Resources } from './resources.ts';
import { fetchOnce, type RunInDraftFolder, readOutput } from './tools.ts';

const UV_REQUIREMENTS = join(import.meta.dirname, 'uv.txt');
const MIN_MINOR_VERSION = 11;

/** Says why Python programs cannot run on this machine; undefined if they can. */
export function whyPythonUnavailable(): string | undefined {
  const minor = /^Python 3\.(\d+)/.exec(readOutput('python3', '--version') ?? '')?.[1];
  if (minor === undefined || Number(minor) < MIN_MINOR_VERSION) {
    return `there is no Python 3.${MIN_MINOR_VERSION} or newer`;
  }
  const hasVenv = readOutput('python3', '-c', 'import ensurepip, venv') !== undefined;
  return hasVenv ? undefined : 'Python has no venv module';
}

/**
 * Returns an interpreter that has the packages of a requirements file. Run their programs with `-m`.
 * @param requirements path of the requirements file
 * @throws UserError
 */
export async function preparePython(resources: Resources, requirements: string): Promise<string> {
  // Lets every program that this process starts cache its compiled imports.
  delete process.env.PYTHONDONTWRITEBYTECODE;
  const folder = await createVirtualEnvironment(resources, requirements, async (draft, run) => {
    const uv = await installUv(resources);
    await run('python3', '-m', 'venv', '--without-pip', draft);
    await run(
      uv,
      ...['pip', 'install', '--quiet', '--system-certs', '--no-deps'],
      ...['--cache-dir', join(dirname(draft), 'cache')],
      ...['--python', draft, '--requirement', requirements],
    );
    return draft;
  });
  return join(folder, 'bin/python');
}

/**
 * Installs uv. It replaces pip, which spends most of its time reading the list of all releases of each package.
 */
async function installUv(resources: Resources): Promise<string> {
  const folder = await createVirtualEnvironment(resources, UV_REQUIREMENTS, async (draft, run) => {
    await run('python3', '-m', 'venv', draft);
    await run(
      join(draft, 'bin/python'),
      ...['-m', 'pip', '--disable-pip-version-check', 'install', '--quiet'],
      ...['--no-deps', '--no-compile', '--requirement', UV_REQUIREMENTS],
    );
    return draft;
  });
  return join(folder, 'bin/uv');
}

function createVirtualEnvironment(
  resources: Resources,
  requirements: string,
  fetchInto: (draft: string, run: RunInDraftFolder) => Promise<string>,
): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex');
  const name = basename(requirements, '.txt');
  return fetchOnce(resources, `python/${name}-${hash.slice(0, 12)}`, fetchInto);
}
