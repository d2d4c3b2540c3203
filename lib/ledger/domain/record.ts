// Common fields of all records: an id that the ledger assigns, the times of writes, and a version for optimistic locking.

/** Reads the id in a path segment; undefined for a string that is not a canonical positive integer, such as `0`, `007` or `1.5`. */
export function parseId(text: string): number | undefined {
  if (!/^[1-9]\d{0,15}$/.test(text)) return undefined;
  const id = Number(text);
  return isAssignableId(id) ? id : undefined;
}

/** False for numbers that the ledger never assigns to a record. */
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

/** True if the stored record is the one that a request wrote; undefined if it was deleted or written again since. */
export function isStoredAs<Stored extends Revision>(
  writtenRecord: Partial<Stored> & Revision,
  stored: Stored | undefined,
): boolean | undefined {
  if (!stored || stored.version > writtenRecord.version) return undefined;
  return Object.entries(writtenRecord).every(
    ([name, value]) => stored[name as keyof Stored] === value,
  );
}

/**
 * Returns the revision of the next write. Its time is always later than that of the previous write, even if a machine with a fast
 * clock made that one.
 */
export function createNextRevision(before: Revision, now: Date): Revision {
  return {
    createdAt: before.createdAt,
    updatedAt: Math.max(now.getTime(), before.updatedAt + 1),
    version: before.version + 1,
  };
}
