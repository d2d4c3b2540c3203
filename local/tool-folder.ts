// Programs that are fetched once and kept in .local: unpacked into a draft, then moved into place as a whole.
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { firstLine, StartError } from './start-error.ts';

const CACHE = join(import.meta.dirname, '..', '.local');

/**
 * @param name of the program's folder, with its version: another version is another folder
 * @param fetchInto fills the draft and says which folder of it is to be kept
 * @throws StartError
 */
export async function fetchOnce(
  name: string,
  fetchInto: (draft: string) => Promise<string>,
): Promise<string> {
  const folder = join(CACHE, name);
  if (existsSync(folder)) return folder;
  await mkdir(dirname(folder), { recursive: true });
  const draft = await mkdtemp(join(dirname(folder), 'draft-'));
  try {
    await rename(await fetchInto(draft), folder);
  } catch (error) {
    // Another run may have put it there meanwhile.
    if (!existsSync(folder)) throw new StartError(`${name} is not to be had: ${firstLine(error)}`);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}
