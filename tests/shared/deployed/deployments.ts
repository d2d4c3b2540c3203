// Lists the deployments of the stage, to roll back to one of them.
import { type EmulatedStage, runServerless } from '../../../local/emulator/emulated-stage.ts';

/** Timestamps for `serverless rollback --timestamp`, the oldest first. */
export async function listDeployments(deployed: EmulatedStage): Promise<string[]> {
  const output = await runServerless(deployed, ['deploy', 'list']);
  return [...output.matchAll(/Timestamp: (\d+)/g)].map(([, timestamp = '']) => timestamp).sort();
}
