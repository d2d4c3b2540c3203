// Shows the progress of a command as a bar.
import cliProgress from 'cli-progress';

export async function withProgressBar<Result>(
  total: number,
  work: (onProgress: (done: number) => void) => Promise<Result>,
): Promise<Result> {
  if (total === 0) return await work(() => undefined);
  const bar = new cliProgress.SingleBar({ noTTYOutput: true, notTTYSchedule: 10_000 });
  bar.start(total, 0);
  return await work((done) => bar.update(done)).finally(() => bar.stop());
}
