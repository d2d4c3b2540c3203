// The ledger's record of an import: the identities of the rows that the import added. A large import has several parts.

/** The position of a part among the parts of all imports. */
export interface ImportPosition {
  readonly importId: string;
  /** Number of the part, from 1. */
  readonly part: number;
}

export interface ImportPart extends ImportPosition {
  /** Row identities. */
  readonly rows: readonly string[];
}

export const MAX_IMPORT_ID_LENGTH = 64;
export const MAX_IMPORT_PARTS = 1_000;
/** Maximum number of rows in a part. Even identities of the maximum length fit into one table item (400 KB). */
export const MAX_PART_ROWS = 10_000;
export const MAX_ROW_IDENTITY_LENGTH = 32;
