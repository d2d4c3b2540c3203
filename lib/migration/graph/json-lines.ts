// Compressed lines of JSON in an artifact, written and read as a stream.
import { pipeline } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { type Artifact, type ArtifactStore, measuring, splitLines } from '../ports/artifacts.ts';

const CHUNK_CHARACTERS = 64 * 1024;

export async function writeLines(
  artifacts: ArtifactStore,
  key: string,
  values: AsyncIterable<unknown> | Iterable<unknown>,
): Promise<Artifact> {
  async function* text() {
    let chunk = '';
    for await (const value of values) {
      chunk += `${JSON.stringify(value)}\n`;
      if (chunk.length < CHUNK_CHARACTERS) continue;
      yield Buffer.from(chunk);
      chunk = '';
    }
    if (chunk) yield Buffer.from(chunk);
  }

  return await artifacts.put(key, pipeline(text, createGzip(), atItsEnd));
}

/** The measure is of the artifact: to be asked for once, at the end. */
export function readLines<Line>(artifacts: ArtifactStore, key: string) {
  const { content, measure } = measuring(artifacts.get(key));

  async function* values(): AsyncGenerator<Line> {
    const text = pipeline(content, createGunzip(), atItsEnd);
    for await (const line of splitLines(text)) yield JSON.parse(line);
  }

  return { values: values(), measure };
}

// The last stream fails where any of them does.
function atItsEnd(): void {}
