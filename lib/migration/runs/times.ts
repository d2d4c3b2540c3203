// The times of a run: the deadline of its window, the poll intervals, the speed of its steps, and the days left for a rollback.
import { notNow } from '../refusals.ts';
import { type Checkpoint, type Progress, type Run, wasOpened, windowOf } from './run.ts';

/** Interval at which a service, or a person's approval, is checked */
export const POLL_SECONDS = 5;

/** Interval for polling work that mostly takes a second or two: short at first, because users wait in the window. */
export function pollSeconds(awaitedMs: number): number {
  return Math.min(POLL_SECONDS, Math.max(1, Math.floor(awaitedMs / 4_000)));
}

/** Pauses before a failed step is retried: each is twice as long as the one before. */
export const FIRST_RETRY_SECONDS = 2;
export const MAX_RETRY_SECONDS = 60;

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/**
 * Returns a check to call while a step works: it throws when the deadline passes, so that the rollback does not wait for the step.
 * A step that begins after the deadline is not stopped.
 */
export function assertNotClosing(run: Pick<Run, 'window'>, clock: () => Date): () => void {
  const beganLate = isPastDeadline(run, clock());
  return () => {
    if (!beganLate && isPastDeadline(run, clock())) throw notNow(describeClosing(run));
  };
}

/** True if users may be on the new version, in a window that has not ended. */
export function isOpenBeforeDeadline(run: Pick<Run, 'window'>, now: Date): boolean {
  return wasOpened(run) && !isPastDeadline(run, now);
}

export function isPastDeadline({ window }: Pick<Run, 'window'>, now: Date): boolean {
  return now.getTime() >= (window?.deadlineAt ?? Number.POSITIVE_INFINITY);
}

export function describeClosing(run: Pick<Run, 'window'>): string {
  return `The window closed at ${new Date(windowOf(run).deadlineAt).toISOString()}.`;
}

/** Adds the speed of this invocation to the progress of its step. */
export function createSpeedMeter(clock: () => Date) {
  let firstProgress: { readonly done: number; readonly at: number } | undefined;
  return (progress?: Progress): { readonly progress?: Progress } => {
    if (!progress) return {};
    const { done } = progress;
    const at = clock().getTime();
    firstProgress ??= { done, at };
    const seconds = (at - firstProgress.at) / 1_000;
    if (seconds <= 0 || done <= firstProgress.done) return { progress };
    return { progress: { ...progress, perSecond: (done - firstProgress.done) / seconds } };
  };
}

/** A longer gap between two invocations counts as an interruption, not as work. */
const MAX_GAP_MS = 60_000;

/** Measures how long a step works, over all its invocations. */
export function createStopwatch(clock: () => Date) {
  const startedAt = clock().getTime();
  let earlierMs = 0;
  return {
    /** Continues from the checkpoint of the previous invocation. */
    resume({ workedMs = 0, savedAt }: Pick<Checkpoint, 'workedMs' | 'savedAt'>): void {
      const gap = startedAt - savedAt;
      earlierMs = workedMs + (gap <= MAX_GAP_MS ? gap : 0);
    },
    milliseconds: () => earlierMs + clock().getTime() - startedAt,
  };
}

const WARNING_DAYS = 7;

export type Retention = ReturnType<typeof retentionOf>;

/** @throws Refusal for a run that never went live */
export function retentionOf({ window }: Pick<Run, 'window'>, now: Date) {
  const { retainUntil, overAt } = window ?? {};
  if (retainUntil === undefined) {
    throw notNow('The record has no end of the rollback period.');
  }
  const remainingMs = retainUntil - now.getTime();
  const isOver = remainingMs <= 0 || overAt !== undefined;
  return {
    until: new Date(retainUntil).toISOString(),
    daysLeft: Math.max(0, Math.ceil(remainingMs / DAY_MS)),
    isOver,
    /** True in the last week of the rollback period: a rollback must begin before its end */
    isEnding: !isOver && remainingMs <= WARNING_DAYS * DAY_MS,
  };
}
