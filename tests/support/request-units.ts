// What requests may cost in DynamoDB's units. tests/contract/capacity.full.test.ts measures them.

/** Read units of a list, at most; write units of a write, exactly. */
export const LIST_READ_UNITS = 5;
/** Read units of one part of an export with some 30 categories, at most: 1 MB, eventually consistent, and their names. */
export const EXPORT_READ_UNITS = 130;
export const WRITE_UNITS = {
  ...{ create: 17, delete: 16, updateOfNotes: 6 },
  ...{ createWithoutCategory: 15, deleteWithoutCategory: 14 },
  createWithExternalId: 19,
} as const;
