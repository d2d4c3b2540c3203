// The collection-name setting as a file that contains only the name
import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm } from 'node:fs/promises';
import {
  type CollectionSetting,
  refuseChangedSetting,
  refuseMissingSetting,
} from '../ports/collection-setting.ts';
import { Refusal, recoverWith } from '../refusals.ts';
import { hasCode, undefinedIfMissing, writeDurably } from './file-artifacts.ts';

/** A line of a .env file */
const ASSIGNMENT = /^(export\s+)?\w+\s*=/;

export function createFileCollectionSetting(file: string): CollectionSetting {
  const nextFile = `${file}.next`;

  async function read(): Promise<string> {
    const content = await readFile(file, 'utf8').catch((cause: unknown) => {
      throw refuseMissingSetting(file, cause);
    });
    const name = content.trim();
    // Changing the setting would lose other content of the file.
    if (!name.includes('\n') && !ASSIGNMENT.test(name)) return name;
    const why = `${file} of COLLECTION_SETTING contains more than a collection's name, as a .env file does: use a file with only the name, which the backend reads at its start.`;
    throw new Refusal('RefusedSetting', why);
  }

  // The ".next" file is the lock of the change, and is created with its content: after a crash, either nothing has happened or only
  // the rename is missing. Another change finds the file and is refused.
  async function change({ from, to }: { from: string; to: string }): Promise<void> {
    const oldName = await read();
    if (oldName === to) return;
    if (oldName !== from) throw refuseChangedSetting(oldName, from);
    await createNextFile(nextFile, to);
    // Another process may complete the same change at any time.
    if ((await read()) === from) await undefinedIfMissing(rename(nextFile, file));
    else await rm(nextFile, { force: true });
    const newName = await read();
    if (newName !== to) throw refuseChangedSetting(newName, to);
  }

  // Writes a file with another name than ".next": a ".next" file that a killed process left would block every change.
  async function tryWrite(): Promise<void> {
    const draft = `${file}.${randomUUID()}`;
    try {
      await writeDurably(draft, [Buffer.from(`${await read()}\n`)]);
    } finally {
      await rm(draft, { force: true });
    }
  }

  return { read, change, tryWrite };
}

async function createNextFile(file: string, name: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  await writeDurably(draft, [Buffer.from(`${name}\n`)]);
  const tryLink = () => link(draft, file).then(() => true, recoverWith(false, hasCode('EEXIST')));
  try {
    while (!(await tryLink())) {
      const currentName = (await undefinedIfMissing(readFile(file, 'utf8')))?.trim();
      if (currentName === name) return;
      if (currentName !== undefined) throw refuseChangedSetting(currentName, name);
      // The other change was completed before its file could be read: try again.
    }
  } finally {
    await rm(draft, { force: true });
  }
}
