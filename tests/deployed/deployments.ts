// Deployments of the stage, earlier ones and changed ones.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type EmulatedStage, runServerless } from '../../local/emulator/emulated-stage.ts';

/** What `serverless rollback --timestamp` takes, the oldest first. */
export async function timestampsOf(deployed: EmulatedStage): Promise<string[]> {
  const output = await runServerless(deployed, ['deploy', 'list']);
  return [...output.matchAll(/Timestamp: (\d+)/g)].map(([, timestamp = '']) => timestamp).sort();
}

export interface PackagedResource {
  readonly Type: string;
  readonly Properties: Record<string, unknown>;
}

/**
 * A copy of a package whose resources are changed, for as long as the test.
 * @param acceptedRun the run whose deployment was accepted when the package was made
 */
export async function changedPackage(
  packageFolder: string,
  change: (resource: PackagedResource) => void,
  acceptedRun = '',
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ledger-changed-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await cp(packageFolder, folder, { recursive: true });
  const file = join(folder, 'serverless-state.json');
  const state = JSON.parse(await readFile(file, 'utf8'));
  state.service.custom.deployDuringRun = acceptedRun;
  const { Resources } = state.service.provider.compiledCloudFormationTemplate;
  for (const resource of Object.values(Resources)) change(resource as PackagedResource);
  await writeFile(file, JSON.stringify(state));
  return folder;
}
