// The times of a run: the deadline of its window, how often something is polled, how fast a step works, and for how many
// more days a rollback is possible.
import { notNow } from '../refusals.ts';
import { type Checkpoint, type Progress, type Run, wasOpened, windowOf } from './run.ts';

/** Between two looks at a service, or at what a person has approved. */
export const POLL_SECONDS = 5;

/** The same of work that takes a second or two, mostly: soon at first, for in the window users wait as well. */
export function pollSeconds(awaitedMs: number): number {
  return Math.min(POLL_SECONDS, Math.max(1, Math.floor(awaitedMs / 4_000)));
}

/** Before a step is tried again that a service has failed: each pause is twice as long as the one before. */
export const FIRST_RETRY_SECONDS = 2;
export const MAX_RETRY_SECONDS = 60;

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** Called while a step works. One that ends with the window stops at its deadline, so that the rollback does not wait for it. */
export function assertNotClosing(run: Pick<Run, 'window'>, clock: () => Date): () => void {
  const isLate = isPastDeadline(run, clock());
  return () => {
    if (!isLate && isPastDeadline(run, clock())) throw notNow(closingText(run));
  };
}

/** True if users may be on the new version, in a window that goes on. */
export function isOpened(run: Pick<Run, 'window'>, now: Date): boolean {
  return wasOpened(run) && !isPastDeadline(run, now);
}

export function isPastDeadline({ window }: Pick<Run, 'window'>, now: Date): boolean {
  return now.getTime() >= (window?.deadlineAt ?? Number.POSITIVE_INFINITY);
}

export function closingText(run: Pick<Run, 'window'>): string {
  return `The window closed at ${new Date(windowOf(run).deadlineAt).toISOString()}.`;
}

/** For one invocation. */
export function createRating(clock: () => Date) {
  let first: { readonly done: number; readonly at: number } | undefined;
  return (progress?: Progress): { readonly progress?: Progress } => {
    if (!progress) return {};
    const { done } = progress;
    const at = clock().getTime();
    first ??= { done, at };
    const seconds = (at - first.at) / 1_000;
    if (seconds <= 0 || done <= first.done) return { progress };
    return { progress: { ...progress, perSecond: (done - first.done) / seconds } };
  };
}

/** Longer is no wait between two invocations: the step was interrupted. */
const MAX_GAP_MS = 60_000;

/** How long a step works, over all of its invocations. */
export function createStopwatch(clock: () => Date) {
  const startedAt = clock().getTime();
  let before = 0;
  return {
    /** @param saved by the invocation before this one */
    goOn({ workedMs = 0, savedAt }: Pick<Checkpoint, 'workedMs' | 'savedAt'>): void {
      const gap = startedAt - savedAt;
      before = workedMs + (gap <= MAX_GAP_MS ? gap : 0);
    },
    milliseconds: () => before + clock().getTime() - startedAt,
  };
}

const WARNING_DAYS = 7;

export type Retention = ReturnType<typeof retentionOf>;

/** @throws Refusal for a run that never went live */
export function retentionOf({ window }: Pick<Run, 'window'>, now: Date) {
  const { retainUntil, overAt } = window ?? {};
  if (retainUntil === undefined) {
    throw notNow('The record tells no end of the retention.');
  }
  const left = retainUntil - now.getTime();
  const isOver = left <= 0 || overAt !== undefined;
  return {
    until: new Date(retainUntil).toISOString(),
    daysLeft: Math.max(0, Math.ceil(left / DAY_MS)),
    isOver,
    /** In the last week: a rollback has to be made now. */
    isEnding: !isOver && left <= WARNING_DAYS * DAY_MS,
  };
}
