// Takes the length and the SHA-256 of a stream while it goes by.
import { createHash } from 'node:crypto';

export interface Measure {
  readonly bytes: number;
  readonly sha256: string;
}

export interface MeasuredContent {
  readonly content: AsyncIterable<Uint8Array>;
  /** Of all that went by until now; to be asked once, at the end. */
  measure(): Measure;
}

export function measuring(source: AsyncIterable<Uint8Array>): MeasuredContent {
  const hash = createHash('sha256');
  let bytes = 0;

  async function* content() {
    for await (const chunk of source) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  }

  return { content: content(), measure: () => ({ bytes, sha256: hash.digest('hex') }) };
}

/** Reads a stream for its measure alone. */
export async function measureOf(source: AsyncIterable<Uint8Array>): Promise<Measure> {
  const { content, measure } = measuring(source);
  for await (const _ of content);
  return measure();
}
