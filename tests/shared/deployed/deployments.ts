// Deployments of the stage.
import { type EmulatedStage, runServerless } from '../../../local/emulator/emulated-stage.ts';

/** What `serverless rollback --timestamp` takes, the oldest first. */
export async function timestampsOf(deployed: EmulatedStage): Promise<string[]> {
  const output = await runServerless(deployed, ['deploy', 'list']);
  return [...output.matchAll(/Timestamp: (\d+)/g)].map(([, timestamp = '']) => timestamp).sort();
}
