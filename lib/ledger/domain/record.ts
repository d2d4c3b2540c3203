// The fields that all records have: an id that the ledger assigns, the times of writes, and a version for optimistic locking.

/** Parses the id in a path segment. `0`, `007` and `1.5` are not ids: for these it returns undefined. */
export function parseId(text: string): number | undefined {
  if (!/^[1-9]\d{0,15}$/.test(text)) return undefined;
  const id = Number(text);
  return isAssignableId(id) ? id : undefined;
}

/** False for a number that the ledger never assigns as an id. */
export function isAssignableId(id: number): boolean {
  return Number.isSafeInteger(id) && id > 0;
}

export interface Revision {
  /** Milliseconds since 1970, UTC. */
  readonly createdAt: number;
  /** Milliseconds since 1970, UTC; increases with every write of the record. */
  readonly updatedAt: number;
  /** Grows by one with every write of the record. */
  readonly version: number;
}

export function createFirstRevision(now: Date): Revision {
  return { createdAt: now.getTime(), updatedAt: now.getTime(), version: 1 };
}

/** True if the stored record is the one that a request wrote; undefined if the record was deleted or changed since. */
export function isStoredAs<Stored extends Revision>(
  writtenRecord: Partial<Stored> & Revision,
  stored: Stored | undefined,
): boolean | undefined {
  if (!stored || stored.version > writtenRecord.version) return undefined;
  return Object.entries(writtenRecord).every(
    ([name, value]) => stored[name as keyof Stored] === value,
  );
}

/** Returns the revision of the next write. `updatedAt` increases even if the clock of the previous writer was ahead. */
export function createNextRevision(previous: Revision, now: Date): Revision {
  return {
    createdAt: previous.createdAt,
    updatedAt: Math.max(now.getTime(), previous.updatedAt + 1),
    version: previous.version + 1,
  };
}
