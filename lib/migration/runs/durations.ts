// How often what is awaited is asked for, and how long a day is.

/** Between two looks at a service, or at what a person has approved. */
export const POLL_SECONDS = 5;

export const DAY_MS = 86_400_000;
