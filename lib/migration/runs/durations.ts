// How often what is awaited is asked for, and how long a day is.

/** Between two looks at a service, or at what a person has approved. */
export const POLL_SECONDS = 5;

/** The same of work that takes a second or two, mostly: soon at first, for in the window users wait as well. */
export function pollSeconds(awaitedMs: number): number {
  return Math.min(POLL_SECONDS, Math.max(1, Math.floor(awaitedMs / 4_000)));
}

export const DAY_MS = 86_400_000;
