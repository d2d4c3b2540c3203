// Small artifacts that a person can read as well: one JSON document each.
import type { Artifact, ArtifactStore } from './artifacts.ts';

export async function writeJson(
  artifacts: ArtifactStore,
  key: string,
  document: unknown,
): Promise<Artifact> {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  return await artifacts.put(key, oneChunk(text));
}

/** @throws MissingArtifactError */
export async function readJson(artifacts: ArtifactStore, key: string): Promise<unknown> {
  return JSON.parse(Buffer.concat(await Array.fromAsync(artifacts.get(key))).toString());
}

async function* oneChunk(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}
