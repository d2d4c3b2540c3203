// Creates artifacts in a temporary folder of the calling test.
import { createFileArtifacts } from '../../../lib/migration/adapters/file-artifacts.ts';
import type { ArtifactStore } from '../../../lib/migration/ports/artifacts.ts';
import { createTemporaryFolder } from '../../shared/support/temporary-folder.ts';

export async function openArtifactFolder(): Promise<{ folder: string; artifacts: ArtifactStore }> {
  const folder = await createTemporaryFolder();
  return { folder, artifacts: createFileArtifacts({ folder, now: () => new Date() }) };
}
