// Compressed lines of JSON in an artifact, written and read as a stream.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import {
  type Artifact,
  type ArtifactStore,
  type Measure,
  measuring,
  splitLines,
} from '../ports/artifacts.ts';

interface LinesFile {
  readonly key: string;
  readonly lines: number;
  readonly raw: Measure;
  readonly compressed: Measure;
}

const CHUNK_CHARACTERS = 64 * 1024;

export async function writeLines(
  artifacts: ArtifactStore,
  key: string,
  values: AsyncIterable<unknown> | Iterable<unknown>,
): Promise<LinesFile> {
  let lines = 0;
  let kept: Artifact | undefined;

  async function* text() {
    let chunk = '';
    for await (const value of values) {
      chunk += `${JSON.stringify(value)}\n`;
      lines += 1;
      if (chunk.length < CHUNK_CHARACTERS) continue;
      yield Buffer.from(chunk);
      chunk = '';
    }
    if (chunk) yield Buffer.from(chunk);
  }

  const raw = measuring(text());
  await pipeline(Readable.from(raw.content), createGzip(), async (compressed) => {
    kept = await artifacts.put(key, compressed);
  });
  const { bytes = 0, sha256 = '' } = kept ?? {};
  return { key, lines, raw: raw.measure(), compressed: { bytes, sha256 } };
}

export interface LinesReader {
  readonly values: AsyncIterable<unknown>;
  /** Of what was read: to be asked once, at the end. */
  file(): LinesFile;
}

export function readLines(artifacts: ArtifactStore, key: string): LinesReader {
  let lines = 0;
  const compressed = measuring(artifacts.get(key));
  const raw = measuring(unzipped(compressed.content));

  async function* values() {
    for await (const line of splitLines(raw.content)) {
      lines += 1;
      yield JSON.parse(line) as unknown;
    }
  }

  return {
    values: values(),
    file: () => ({ key, lines, raw: raw.measure(), compressed: compressed.measure() }),
  };
}

async function* unzipped(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const source = Readable.from(content, { objectMode: false });
  const gunzip = createGunzip();
  source.on('error', (error) => gunzip.destroy(error));
  try {
    yield* source.pipe(gunzip) as AsyncIterable<Uint8Array>;
  } finally {
    source.destroy();
  }
}
