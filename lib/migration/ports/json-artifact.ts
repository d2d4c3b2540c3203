// Small artifacts that a person can read as well: one JSON document each.
import { createHash } from 'node:crypto';
import { Refusal } from '../refusals.ts';
import type { Artifact, ArtifactStore } from './artifacts.ts';

export async function writeJson(
  artifacts: ArtifactStore,
  key: string,
  document: unknown,
): Promise<Artifact> {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  return await artifacts.put(key, oneChunk(text));
}

/**
 * @param digest SHA-256 that it was written with, hexadecimal
 * @throws Refusal when it is missing, or is another document than that
 */
export async function readJson(
  artifacts: ArtifactStore,
  key: string,
  digest?: string,
): Promise<unknown> {
  const bytes = Buffer.concat(await Array.fromAsync(artifacts.get(key)));
  const isRecorded =
    digest === undefined || createHash('sha256').update(bytes).digest('hex') === digest;
  if (isRecorded) return JSON.parse(bytes.toString());
  throw new Refusal('RefusedMissingArtifact', `${key} is not what was recorded.`);
}

async function* oneChunk(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}
