// The deadline of the window: after it, only steps that end the window may work.
import { IN_WINDOW } from '../phases.ts';
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

/** Called while a step works: one that began in time stops at the deadline, so that the rollback does not wait for it. */
export function assertNotClosing<Context extends InWindow>(
  context: Context,
  mayBeLate: MayBeLate<Context> | undefined,
): () => void {
  const endsInTime = mayBeLate !== 'always' && !isLate(context);
  return () => {
    if (endsInTime && isLate(context)) throw windowClosed(context.run);
  };
}

/** Whether the run has not come out of its window in time. */
export function isOverdue(run: Pick<Run, 'phase' | 'deadlineAt'>, now: Date): boolean {
  return IN_WINDOW.some((phase) => phase === run.phase) && isPast(run, now);
}

function isLate({ services, run }: InWindow): boolean {
  return isPast(run, services.clock());
}

function isPast({ deadlineAt }: Pick<Run, 'deadlineAt'>, now: Date): boolean {
  return now.getTime() >= (deadlineAt ?? Number.POSITIVE_INFINITY);
}

function windowClosed({ deadlineAt = 0 }: Run): Refusal {
  const deadline = new Date(deadlineAt).toISOString();
  return new Refusal('RefusedDeadlinePassed', `The window closed at ${deadline}.`);
}
