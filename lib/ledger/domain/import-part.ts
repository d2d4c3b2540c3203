// The part of an import that a ledger remembers: the identities of the rows that it added.

/** The place of a part among those of all imports. */
export interface ImportPosition {
  readonly importId: string;
  /** From 1. */
  readonly part: number;
}

/** An import of many rows has several parts. */
export interface ImportPart extends ImportPosition {
  readonly rows: readonly string[];
}

export const MAX_IMPORT_ID_LENGTH = 64;
export const MAX_IMPORT_PARTS = 1_000;
/** One item of the table, at most 400 KB, holds this many identities of the greatest length. */
export const MAX_ROWS_OF_PART = 10_000;
export const MAX_ROW_IDENTITY_LENGTH = 32;
