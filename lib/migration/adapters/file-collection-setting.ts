// The collection-name setting as a file that holds nothing but the name.
import { randomUUID } from 'node:crypto';
import { link, open, readFile, rename, rm } from 'node:fs/promises';
import {
  type CollectionSetting,
  changedSetting,
  missingSetting,
} from '../ports/collection-setting.ts';

export function createFileCollectionSetting(file: string): CollectionSetting {
  const next = `${file}.next`;

  async function read(): Promise<string> {
    try {
      return (await readFile(file, 'utf8')).trim();
    } catch (cause) {
      throw missingSetting(file, cause);
    }
  }

  // The new file is the lock of the change, and comes into being whole: a crash leaves the change
  // undone, or with only the renaming to be done. Another change finds it there and is refused.
  async function change({ from, to }: { from: string; to: string }): Promise<void> {
    const before = await read();
    if (before === to) return;
    if (before !== from) throw changedSetting(before);
    await createWhole(next, to);
    const present = await read();
    if (present === from) return await rename(next, file);
    await rm(next);
    if (present !== to) throw changedSetting(present);
  }

  return { read, change };
}

async function createWhole(file: string, name: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  await writeDurably(draft, `${name}\n`);
  try {
    await link(draft, file);
  } catch (error) {
    const present = await contentOf(file);
    if (present === undefined) throw error;
    if (present !== name) throw changedSetting(present);
  } finally {
    await rm(draft, { force: true });
  }
}

async function contentOf(file: string): Promise<string | undefined> {
  return await readFile(file, 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  );
}

async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w');
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
