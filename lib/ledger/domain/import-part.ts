// A part of an import, as a ledger remembers it: the identities of the rows that the import added.

/** The position of a part among those of all imports. */
export interface ImportPosition {
  readonly importId: string;
  /** Number of the part, from 1. */
  readonly part: number;
}

/** An import of many rows has several parts. */
export interface ImportPart extends ImportPosition {
  readonly rows: readonly string[];
}

export const MAX_IMPORT_ID_LENGTH = 64;
export const MAX_IMPORT_PARTS = 1_000;
/** Maximum number of identities in a part. Even at their greatest length, this many fit into one item of the table (400 KB). */
export const MAX_PART_ROWS = 10_000;
export const MAX_ROW_IDENTITY_LENGTH = 32;
