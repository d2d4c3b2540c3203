// Contract of artifact stores, on any storage
import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ArtifactStore } from '../../../../lib/migration/ports/artifacts.ts';
import { measureStream } from '../../../../lib/migration/ports/artifacts.ts';

export interface StoreUnderTest {
  readonly store: ArtifactStore;
  /** Stores content under a key, like a put that was killed before its last step. */
  plantUnfinished(key: string, content: string): Promise<void>;
  /** Lists all keys in the storage in order, each once, including those of unfinished content and earlier versions. */
  listAllKeys(): Promise<string[]>;
  /** Advances the store's clock. */
  advanceClock(milliseconds: number): void;
}

const HELLO = 'hello, artifact';
const HOUR_MS = 3_600_000;
const MEBIBYTE = 1024 * 1024;

/** @param open returns an empty store at each call */
export function describeArtifactStore(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`An artifact store in ${name}`, () => {
    let subject: StoreUnderTest;
    let store: ArtifactStore;

    beforeEach(async () => {
      subject = await open();
      store = subject.store;
    });

    test('returns the stored content with its length and digest', async () => {
      const stored = await store.put('run-1/hello.txt', toChunks(HELLO));
      expect(stored).toEqual({
        key: 'run-1/hello.txt',
        bytes: HELLO.length,
        sha256: createHash('sha256').update(HELLO).digest('hex'),
        retainUntil: undefined,
      });
      expect(await store.find('run-1/hello.txt')).toEqual(stored);
      expect(await readText(store, 'run-1/hello.txt')).toBe(HELLO);
    });

    test('stores empty content', async () => {
      const stored = await store.put('empty', toChunks());
      expect(await store.find('empty')).toEqual(stored);
      expect(stored.bytes).toBe(0);
      expect(await readText(store, 'empty')).toBe('');
    });

    test('stores content that is longer than one upload part', async () => {
      const stored = await store.put('large', generateBytes(40 * MEBIBYTE + 1));
      expect(stored.bytes).toBe(40 * MEBIBYTE + 1);
      expect(await measureStream(store.get('large'))).toEqual({
        bytes: stored.bytes,
        sha256: stored.sha256,
      });
    });

    test('replaces old content with new', async () => {
      await store.put('key', toChunks('old content'));
      const stored = await store.put('key', toChunks('new'));
      expect(await store.find('key')).toEqual(stored);
      expect(await readText(store, 'key')).toBe('new');
    });

    test('does not find content that was never stored', async () => {
      expect(await store.find('none')).toBeUndefined();
      await expect(readText(store, 'none')).rejects.toThrow(errorNamed('RefusedMissingArtifact'));
      await expect(store.retain('none', new Date())).rejects.toThrow(
        errorNamed('RefusedMissingArtifact'),
      );
      await expect(store.delete('none')).resolves.toBeUndefined();
    });

    test.each([
      ['after a few bytes', 10],
      ['after several parts', 40 * MEBIBYTE],
    ])('keeps the old content if the stream of the new content fails %s', async (_, bytes) => {
      const stored = await store.put('key', toChunks('old'));
      await expect(store.put('key', breakAfter(bytes))).rejects.toThrow('the source broke');
      expect(await store.find('key')).toEqual(stored);
      expect(await readText(store, 'key')).toBe('old');
    });

    test('stores nothing if the stream of the first content fails', async () => {
      await expect(store.put('key', breakAfter(40 * MEBIBYTE))).rejects.toThrow('the source broke');
      expect(await store.find('key')).toBeUndefined();
    });

    test('ignores and overwrites the leftovers of a killed put', async () => {
      await subject.plantUnfinished('key', 'unfinished');
      expect(await store.find('key')).toBeUndefined();
      await expect(readText(store, 'key')).rejects.toThrow(errorNamed('RefusedMissingArtifact'));
      expect(await Array.fromAsync(store.list(''))).toEqual([]);
      await store.put('key', toChunks('whole'));
      expect(await readText(store, 'key')).toBe('whole');
    });

    test('lists keys by prefix, in order', async () => {
      for (const key of ['run-2/a', 'run-1/b/c', 'run-1/a', 'run-10/a']) {
        await store.put(key, toChunks(key));
      }
      const found = await Array.fromAsync(store.list('run-1'), ({ key }) => key);
      expect(found).toEqual(['run-1/a', 'run-1/b/c', 'run-10/a']);
      expect(await Array.fromAsync(store.list('run-1/'), ({ key, bytes }) => [key, bytes])).toEqual(
        [
          ['run-1/a', 7],
          ['run-1/b/c', 9],
        ],
      );
      expect(await Array.fromAsync(store.list('other/'))).toEqual([]);
    });

    test.each([
      '',
      '/etc/passwd',
      '../up',
      'a/../b',
      'a//b',
      'a/',
      '.records/a.json',
      'a\\b',
      'a b',
    ])('refuses the key "%s"', async (key) => {
      const refusal = errorNamed('TypeError');
      await expect(store.put(key, toChunks(HELLO))).rejects.toThrow(refusal);
      await expect(store.find(key)).rejects.toThrow(refusal);
      await expect(readText(store, key)).rejects.toThrow(refusal);
      await expect(store.delete(key)).rejects.toThrow(refusal);
      if (key !== 'a/') await expect(store.deleteAll(key)).rejects.toThrow(refusal);
    });

    test('deletes an artifact permanently', async () => {
      await store.put('key', toChunks('first'));
      await store.put('key', toChunks('second'));
      await store.delete('key');
      expect(await store.find('key')).toBeUndefined();
      expect(await Array.fromAsync(store.list(''))).toEqual([]);
    });

    test('deletes all artifacts under a prefix, even unfinished ones, and no others', async () => {
      for (const key of [
        'run-1/graph-3/nodes',
        'run-1/snapshot-3',
        'run-1/report',
        'run-10/graph-3',
      ]) {
        await store.put(key, toChunks('first'));
        await store.put(key, toChunks('second'));
      }
      await subject.plantUnfinished('run-1/snapshot-4', 'unfinished');
      await store.deleteAll('run-1/graph-');
      await store.deleteAll('run-1/snapshot-');
      const remaining = await Array.fromAsync(store.list(''), ({ key }) => key);
      expect(remaining).toEqual(['run-1/report', 'run-10/graph-3']);
      expect(await subject.listAllKeys()).toEqual(remaining);
      await store.deleteAll('run-1/graph-');
    });

    test('deletes nothing under a prefix while an artifact is retained, and names the one retained longest', async () => {
      for (const key of ['run-1/a', 'run-1/b', 'run-1/c'])
        await store.put(key, toChunks('precious'));
      const later = new Date(inAnHour().getTime() + HOUR_MS);
      await store.retain('run-1/c', inAnHour());
      await store.retain('run-1/b', later);
      const refused = store.deleteAll('run-1/');
      await expect(refused).rejects.toThrow('must be kept until');
      await expect(refused).rejects.toThrow(`run-1/b must be kept until ${later.toISOString()}`);
      expect(await Array.fromAsync(store.list('run-1/'))).toHaveLength(3);
    });

    test('neither deletes nor replaces a retained artifact', async () => {
      await store.put('key', toChunks('precious'));
      await store.retain('key', inAnHour());
      const refusal = 'must be kept until';
      await expect(store.delete('key')).rejects.toThrow(refusal);
      await expect(store.put('key', toChunks('other'))).rejects.toThrow(refusal);
      expect(await readText(store, 'key')).toBe('precious');
    });

    test('extends retention and never shortens it', async () => {
      await store.put('key', toChunks('precious'));
      const [sooner, later] = [inAnHour(), new Date(inAnHour().getTime() + HOUR_MS)];
      for (const until of [sooner, later, sooner]) await store.retain('key', until);
      const artifact = await store.find('key');
      expect(artifact?.retainUntil).toEqual(later);
      expect(await store.find('key')).toMatchObject({ bytes: 8, sha256: artifact?.sha256 });
    });
  });
}

/** Tests stores that enforce retention themselves; a bucket with object lock leaves that to S3. */
export function describeEndOfRetention(name: string, open: () => Promise<StoreUnderTest>): void {
  test(`An artifact store in ${name} releases an artifact whose retention has ended`, async () => {
    const { store, advanceClock } = await open();
    await store.put('key', toChunks('precious'));
    await store.retain('key', inAnHour());
    advanceClock(HOUR_MS - 60_000);
    await expect(store.delete('key')).rejects.toThrow('must be kept until');
    advanceClock(61_000);
    await store.delete('key');
    expect(await store.find('key')).toBeUndefined();
  });
}

export async function* toChunks(...texts: string[]): AsyncIterable<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

/** Yields this many bytes, different in each part, so that a test notices swapped parts. */
export async function* generateBytes(bytes: number): AsyncIterable<Uint8Array> {
  for (let offset = 0; offset < bytes; offset += MEBIBYTE) {
    const chunk = Buffer.alloc(Math.min(MEBIBYTE, bytes - offset), offset % 251);
    chunk.set(Buffer.from(String(offset / MEBIBYTE)).subarray(0, chunk.length));
    yield chunk;
  }
}

async function* breakAfter(bytes: number): AsyncIterable<Uint8Array> {
  yield* generateBytes(bytes);
  throw new Error('the source broke');
}

// S3 stores times in whole seconds.
function inAnHour(): Date {
  return new Date(Math.ceil(Date.now() / 1000) * 1000 + HOUR_MS);
}

async function readText(store: ArtifactStore, key: string): Promise<string> {
  return Buffer.concat(await Array.fromAsync(store.get(key))).toString();
}

function errorNamed(name: string) {
  return expect.objectContaining({ name });
}
