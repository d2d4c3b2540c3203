// The cost of each kind of request in DynamoDB's units, in a household's ledger of any size. docs/ledger/deploy.md shows the
// names of the kinds. tests/ledger/contract/capacity.full.test.ts measures their units.

export interface Units {
  readonly read: number;
  readonly write: number;
}

/**
 * Upper bounds of units for each kind of request. A part of an export reads 1 MB of rows, the counts, and the empty ranges
 * between cached months. A search reads 25,000 rows. Both read the names of some 30 categories.
 */
export const MAX_UNITS = {
  list: { read: 5, write: 0 },
  'list with `q` or `import_id`': { read: 74, write: 0 },
  'part of an export': { read: 137, write: 0 },
  search: { read: 880, write: 0 },
  'summary of a year by day': { read: 2, write: 0 },
} satisfies Record<string, Units>;

/** Units of a list with `q` or `import_id`, if 2,000 transactions have ASCII texts of the maximum length. */
export const MAX_SEARCHING_LIST_UNITS = 1_600;

/** Exact units of each kind of request. */
export const REQUEST_UNITS = {
  read: { read: 2, write: 0 },
  'months of ten years': { read: 2, write: 0 },
  'summary of a year by month': { read: 0.5, write: 0 },
  'summary of a year by category': { read: 16.5, write: 0 },
  'summary of ten years by category and month': { read: 16.5, write: 0 },
  'summary of a year by category and day': { read: 16.5, write: 0 },
  'list of 30 categories': { read: 2, write: 0 },
  create: { read: 1, write: 17 },
  'create with an external id': { read: 1, write: 19 },
  'create without a category': { read: 0, write: 15 },
  'bulk create of 100': { read: 101, write: 831 },
  'bulk update of 100, of their notes': { read: 101, write: 604 },
  'bulk update of 100, to another category': { read: 101, write: 828 },
  'bulk delete of 100': { read: 100, write: 830 },
  delete: { read: 1, write: 16 },
  'delete without a category': { read: 1, write: 14 },
  'update of notes': { read: 1, write: 8 },
  'create of a category': { read: 1, write: 5 },
} satisfies Record<string, Units>;

export type RequestKind = keyof typeof REQUEST_UNITS;

/**
 * Units that these requests write to indexes. Each index has its own maximum throughput. A row takes one unit in each of four
 * indexes. An update to another category deletes the row from two of the indexes, and adds it to them again.
 */
export const INDEX_WRITES = {
  create: 4,
  'bulk create of 100': 400,
  'bulk update of 100, to another category': 400,
  'bulk delete of 100': 400,
} satisfies Partial<Record<RequestKind, number>>;
