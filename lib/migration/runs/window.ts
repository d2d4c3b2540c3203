// The window of a run: when it has closed, nobody but who goes back, stays or counts the days is at work in it.
import { Refusal } from '../refusals.ts';
import type { Services } from '../services.ts';
import type { Run } from './run.ts';

/** Whether a step may be taken although the window is over. */
export type MayBeLate<Context> = 'always' | ((context: Context) => Promise<boolean>);

interface InWindow {
  readonly services: Pick<Services, 'clock'>;
  readonly run: Run;
}

/** @throws Refusal when the step comes too late */
export async function assertWindowOpen<Context extends InWindow>(
  context: Context,
  mayBeLate: MayBeLate<Context> = async () => false,
): Promise<void> {
  if (!isLate(context) || mayBeLate === 'always' || (await mayBeLate(context))) return;
  throw windowClosed(context.run);
}

/** To be asked while a step is at work: one that has begun in time lets go, lest whoever goes back is kept waiting. */
export function assertNotClosing<Context extends InWindow>(
  context: Context,
  mayBeLate: MayBeLate<Context> | undefined,
): () => void {
  const endsInTime = mayBeLate !== 'always' && !isLate(context);
  return () => {
    if (endsInTime && isLate(context)) throw windowClosed(context.run);
  };
}

function isLate({ services, run }: InWindow): boolean {
  return services.clock().getTime() >= (run.deadlineAt ?? Number.POSITIVE_INFINITY);
}

function windowClosed({ deadlineAt = 0 }: Run): Refusal {
  const deadline = new Date(deadlineAt).toISOString();
  return new Refusal('RefusedDeadlinePassed', `The window closed at ${deadline}.`);
}
