// Artifacts in a folder: the contract of artifact stores, and the protection of the files.
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { openArtifacts } from '../../../../lib/migration/adapters/open-artifacts.ts';
import { describeArtifactStore, describeEndOfRetention, toChunks } from './artifact-store.ts';

const folders: string[] = [];

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function open() {
  const folder = await mkdtemp(join(tmpdir(), 'artifacts-'));
  folders.push(folder);
  let offsetMs = 0;
  const now = () => new Date(Date.now() + offsetMs);
  return {
    folder,
    store: openArtifacts(pathToFileURL(folder).href, { now }),
    async plantUnfinished(key: string, content: string) {
      await mkdir(dirname(join(folder, key)), { recursive: true });
      await writeFile(join(folder, key), content);
    },
    listAllKeys: async () => (await listFiles(folder)).map(toKey).filter(isFirstOccurrence).sort(),
    advanceClock: (milliseconds: number) => {
      offsetMs += milliseconds;
    },
  };
}

describeArtifactStore('a folder', open);
describeEndOfRetention('a folder', open);

test('A folder that does not exist yet contains no artifacts', async () => {
  const store = openArtifacts('file:///nowhere/that/exists');
  expect(await Array.fromAsync(store.list(''))).toEqual([]);
});

test('A put whose source fails leaves no file', async () => {
  const { folder, store } = await open();
  const failingSource = (async function* () {
    yield Buffer.from('part');
    throw new Error('the source broke');
  })();
  await expect(store.put('key', failingSource)).rejects.toThrow('the source broke');
  expect(await listFileNames(folder)).toEqual([]);
});

test('Content that another program truncated is not an artifact', async () => {
  const { folder, store } = await open();
  await store.put('key', toChunks('a snapshot'));
  await writeFile(join(folder, 'key'), 'a snap');
  expect(await store.find('key')).toBeUndefined();
});

test('Artifacts, including those of an earlier release, cannot be read by other users, and other files keep their permissions', async () => {
  const { folder } = await open();
  const readMode = async (path: string) =>
    ((await stat(join(folder, path))).mode & 0o777).toString(8);
  const readModes = async (...paths: string[]) => await Promise.all(paths.map(readMode));
  const reopen = () => openArtifacts(pathToFileURL(folder).href);
  await reopen().put('run/deep/key', toChunks('a snapshot'));
  await reopen().put('key', toChunks('a snapshot'));
  const subfolders = ['run', 'run/deep', '.records', '.records/run'];
  const files = ['run/deep/key', 'key', '.records/run/deep/key.json'];
  expect(await readModes(...subfolders)).toEqual(subfolders.map(() => '700'));
  expect(await readModes(...files)).toEqual(files.map(() => '600'));
  await chmod(join(folder, 'run'), 0o755);
  await chmod(join(folder, 'key'), 0o644);
  await writeFile(join(folder, 'foreign'), '');
  for (const path of ['.', 'foreign']) await chmod(join(folder, path), 0o755);
  await reopen().put('other', toChunks('a snapshot'));
  expect(await readModes('run', 'key', '.', 'foreign')).toEqual(['700', '600', '755', '755']);
});

async function listFileNames(folder: string): Promise<string[]> {
  return (await listFiles(folder)).map((path) => basename(path));
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
}

function toKey(path: string): string {
  return path.replace(/^\.records\/(.*)\.json$/, '$1');
}

function isFirstOccurrence(key: string, index: number, keys: readonly string[]): boolean {
  return keys.indexOf(key) === index;
}
