// When a record was written, and how often. Its version tells whether somebody else has written it since.

export interface Revision {
  /** Milliseconds since 1970, UTC. */
  readonly createdAt: number;
  /** Milliseconds since 1970, UTC; every write of the record moves it. */
  readonly updatedAt: number;
  /** Grows by one with every write of the record. */
  readonly version: number;
}

export function firstRevision(now: Date): Revision {
  return { createdAt: now.getTime(), updatedAt: now.getTime(), version: 1 };
}

/** Told by the clock, but always as later than the write before: clocks of two machines differ. */
export function nextRevision(before: Revision, now: Date): Revision {
  return {
    createdAt: before.createdAt,
    updatedAt: Math.max(now.getTime(), before.updatedAt + 1),
    version: before.version + 1,
  };
}
