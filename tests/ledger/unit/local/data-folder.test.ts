// Only the owner can read the data folder and its contents, even those that an earlier release created.
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDataFolder } from '../../../../local/data-folder.ts';
import { createTemporaryFolder } from '../../../shared/support/temporary-folder.ts';

const readMode = (path: string) => (statSync(path).mode & 0o777).toString(8);

it('a data folder and its files are closed to other users, whether new or existing', async () => {
  const folder = join(await createTemporaryFolder(), 'a', 'b');
  openDataFolder(folder).release();
  for (const path of [folder, join(folder, '..')]) expect(readMode(path)).toBe('700');
  writeFileSync(join(folder, 'ledger.db'), '');
  const files = ['ledger.db', 'lock.db', 'endpoint'].map((name) => join(folder, name));
  for (const path of files) chmodSync(path, 0o644);
  chmodSync(folder, 0o755);
  const { recordEndpoint, release } = openDataFolder(folder);
  recordEndpoint('unix:/nowhere');
  release();
  expect(files.map(readMode)).toEqual(['600', '600', '600']);
  expect(readMode(folder)).toBe('700');
});

it('a shared folder such as /tmp keeps its permissions, and so do the files of others', async () => {
  const folder = join(await createTemporaryFolder(), 'shared');
  mkdirSync(folder);
  chmodSync(folder, 0o777);
  const [otherFile, linkTarget] = [join(folder, 'notes.txt'), join(folder, '..', 'linkTarget')];
  for (const path of [otherFile, linkTarget]) {
    writeFileSync(path, '');
    chmodSync(path, 0o644);
  }
  symlinkSync(linkTarget, join(folder, 'ledger.db'));
  openDataFolder(folder).release();
  expect([folder, otherFile, linkTarget].map(readMode)).toEqual(['777', '644', '644']);
  expect(readMode(join(folder, 'lock.db'))).toBe('600');
});
