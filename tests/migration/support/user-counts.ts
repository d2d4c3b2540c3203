// Reads the counts of users that a step stored.
import {
  type ArtifactStore,
  measureStream,
  splitLines,
} from '../../../lib/migration/ports/artifacts.ts';

/** @throws if the list does not match its recorded digest */
export async function* readUserCounts(
  artifacts: ArtifactStore,
  { artifact, digest }: { readonly artifact: string; readonly digest: string },
): AsyncGenerator<{ readonly user: string; readonly points: number }> {
  const { sha256 } = await measureStream(artifacts.get(artifact));
  if (sha256 !== digest) throw new Error(`${artifact} does not match its recorded digest`);
  for await (const line of splitLines(artifacts.get(artifact))) {
    const [user = '', points = ''] = line.split(' ');
    yield { user, points: Number(points) };
  }
}
