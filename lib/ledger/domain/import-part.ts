// A part of an import, as a ledger remembers it: the identities of the rows that the import added.

/** The place of a part among those of all imports. */
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
/** Number of identities in a part. One item of the table, at most 400 KB, holds this many of the greatest length. */
export const MAX_ROWS_OF_PART = 10_000;
export const MAX_ROW_IDENTITY_LENGTH = 32;
