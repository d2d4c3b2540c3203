// Finds the commit of the newest version in CHANGELOG.md, by the version's tag or by the commit that its section names.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT } from '../versions.ts';

export interface Release {
  readonly version: string;
  /** Full hash of the commit; undefined if the section does not name it. Such a version has a tag. */
  readonly commit: string | undefined;
  /** The version's section of the changelog, without the heading. */
  readonly notes: string;
}

/**
 * Reads the newest release from the changelog.
 * @throws Error if the changelog has no version
 */
export function parseNewestRelease(changelog: string): Release {
  const section = changelog.split(/^(?=## )/m).find((part) => /^## \[\d/.test(part)) ?? '';
  const [, version] = /^## \[([^\]]+)\]/.exec(section) ?? [];
  if (!version) throw new Error('CHANGELOG.md has no version');
  const notes = section.replace(/^## .*\n/, '').trim();
  return { version, commit: /\bcommit ([0-9a-f]{40})\b/.exec(section)?.[1], notes };
}

/**
 * Finds the commit of the newest release, and fetches the commit if the clone lacks it.
 * @throws Error if the release has neither a tag nor a commit, or if it cannot be fetched
 */
export async function findPreviousRelease(): Promise<string> {
  const { version, commit } = parseNewestRelease(
    await readFile(join(PROJECT, 'CHANGELOG.md'), 'utf8'),
  );
  const git = async (...args: string[]) =>
    (await promisify(execFile)('git', args, { cwd: PROJECT })).stdout.trim();
  const findCommit = (name: string) =>
    git('rev-parse', '--verify', '--quiet', `${name}^{commit}`).catch(() => undefined);
  const fetch = (...refs: string[]) =>
    git('fetch', '--quiet', '--depth', '1', 'origin', ...refs).catch(() => undefined);

  const tag = `v${version}`;
  const localCommit =
    (await findCommit(`refs/tags/${tag}`)) ?? (commit && (await findCommit(commit)));
  if (localCommit) return localCommit;
  await fetch(...(commit ? [commit] : ['tag', tag]));
  const fetchedCommit = await findCommit(commit ?? `refs/tags/${tag}`);
  if (fetchedCommit) return fetchedCommit;
  throw new Error(
    `Release ${version} is not in this clone as ${commit ?? `tag ${tag}`}. Run git fetch --unshallow --tags.`,
  );
}
