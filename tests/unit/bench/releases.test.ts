// The release that the present code is compared with.
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newestRelease, previousRelease } from '../../../bench/releases.ts';

const COMMIT = 'dd2c40ca280c916c5266a47552869992a4370065';

it.each([
  [
    `## [Unreleased]\n\n- A.\n\n## [0.1.0] - 2026-11-23\n\nFirst version (commit ${COMMIT}).\n`,
    '0.1.0',
    COMMIT,
  ],
  [
    `## [Unreleased]\n\n## [1.2.0] - 2027-01-01\n\n- A.\n\n## [0.1.0]\n\ncommit ${COMMIT}\n`,
    '1.2.0',
    undefined,
  ],
])('is the newest version of the changelog', (changelog, version, commit) => {
  expect(newestRelease(changelog)).toEqual({ version, commit });
});

it('is nothing where the changelog has no version', () => {
  expect(() => newestRelease('## [Unreleased]\n\n- A.\n')).toThrow('has no version');
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'releases-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const git = (place: string, ...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], {
    cwd: place,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

/** A project with three commits, of which the first is the release, and a clone that has only the last. */
async function cloneShallowly(tag: string | undefined) {
  const project = join(folder, 'project');
  git(folder, 'init', '--quiet', project);
  git(project, 'commit', '--quiet', '--allow-empty', '-m', 'Release');
  const release = git(project, 'rev-parse', 'HEAD');
  if (tag) git(project, 'tag', tag);
  await writeFile(
    join(project, 'CHANGELOG.md'),
    `## [0.1.0]\n\n${tag ? '- A.' : `commit ${release}`}\n`,
  );
  git(project, 'add', '.');
  git(project, 'commit', '--quiet', '-m', 'Two');
  git(project, 'commit', '--quiet', '--allow-empty', '-m', 'Three');
  const clone = join(folder, 'clone');
  git(folder, 'clone', '--quiet', '--depth', '1', '--no-tags', `file://${project}`, clone);
  return { project, clone, release };
}

it.each(['v0.1.0', undefined])(
  'is found, and fetched into a shallow clone: tag %s',
  async (tag) => {
    const { project, clone, release } = await cloneShallowly(tag);
    expect(await previousRelease(project)).toBe(release);
    expect(await previousRelease(clone)).toBe(release);
  },
);

it('says what to run where it cannot be fetched', async () => {
  const { project, clone } = await cloneShallowly('v0.1.0');
  await rm(project, { recursive: true });
  await expect(previousRelease(clone)).rejects.toThrow(
    'Release 0.1.0 is not in this clone as tag v0.1.0. Run git fetch --unshallow --tags.',
  );
});
