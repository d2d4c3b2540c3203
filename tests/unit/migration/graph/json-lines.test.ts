import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readLines, writeLines } from '../../../../lib/migration/graph/dump.ts';
import type { ArtifactStore } from '../../../../lib/migration/ports/artifacts.ts';
import { openArtifactFolder } from '../../../support/artifact-folder.ts';

const LONG = 'é🧾\u2028\u2029\r\n'.repeat(40_000);

test('lines come back as they were, with what was taken of them on the way', async () => {
  const { artifacts } = await openArtifactFolder();
  // Characters of several bytes lie across every edge between two chunks.
  const values = ['', 'x', LONG, { text: LONG }, [1, null, true]];
  const written = await writeLines(artifacts, 'lines', values);
  const reader = readLines(artifacts, 'lines');
  expect(await Array.fromAsync(reader.values)).toEqual(values);
  expect(written).toMatchObject({ key: 'lines', ...reader.measure() });
});

test('text is put together again wherever a chunk ends', async () => {
  const lines = [{ a: 'é🧾' }, { b: '\u2028' }, 'x'];
  const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  for (let size = 1; size <= bytes.length; size += 1) {
    const { values } = readLines(served(gzipSync(bytes, { level: 0 }), size), 'lines');
    expect(await Array.fromAsync(values)).toEqual(lines);
  }
});

test('a file with no lines is a file', async () => {
  const { artifacts } = await openArtifactFolder();
  await writeLines(artifacts, 'lines', []);
  expect(await Array.fromAsync(readLines(artifacts, 'lines').values)).toEqual([]);
});

test('a file that ends anywhere before its end is refused', async () => {
  const whole = gzipSync('{"a":1}\n{"b":2}\n');
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: whole.length - 1 }), async (length) => {
      const { values } = readLines(served(whole.subarray(0, length), 7), 'lines');
      await expect(Array.fromAsync(values)).rejects.toThrow();
    }),
  );
});

test('rows that break off leave no file', async () => {
  const { artifacts } = await openArtifactFolder();
  const rows = (async function* () {
    yield 1;
    throw new Error('the connection broke');
  })();
  await expect(writeLines(artifacts, 'lines', rows)).rejects.toThrow('the connection broke');
  expect(await artifacts.head('lines')).toBeUndefined();
});

function served(bytes: Buffer, chunkSize: number): ArtifactStore {
  const unused = () => {
    throw new Error('not to be called');
  };
  return {
    ...{ put: unused, head: unused, list: unused, retain: unused },
    ...{ delete: unused, deleteAll: unused },
    get: async function* () {
      for (let at = 0; at < bytes.length; at += chunkSize) yield bytes.subarray(at, at + chunkSize);
    },
  };
}
