// Reads the files of a folder into memory, and writes them into another folder.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/** Contents by path below the folder. */
export type FolderImage = ReadonlyMap<string, Buffer>;

export async function readFolder(folder: string): Promise<FolderImage> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile());
  const files = paths.map(async ({ parentPath, name }): Promise<[string, Buffer]> => {
    const path = join(parentPath, name);
    return [relative(folder, path), await readFile(path)];
  });
  return new Map(await Promise.all(files));
}

export async function writeFolder(folder: string, image: FolderImage): Promise<void> {
  for (const [path, content] of image) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}
