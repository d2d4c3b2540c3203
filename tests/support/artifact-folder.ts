// Artifacts in a temporary folder of the test that asks for them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createFileArtifacts } from '../../lib/migration/adapters/file-artifacts.ts';
import type { ArtifactStore } from '../../lib/migration/ports/artifacts.ts';

export async function openArtifactFolder(): Promise<{ folder: string; artifacts: ArtifactStore }> {
  const folder = await mkdtemp(join(tmpdir(), 'artifacts-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return { folder, artifacts: createFileArtifacts({ folder, now: () => new Date() }) };
}
