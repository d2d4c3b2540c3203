// Records that a ledger keeps of imported rows: hashes of the row's identity and of its contents. They show a later import which rows
// were deleted by hand, and an undo which rows were changed only by adding a category.
import { MAX_IMPORT_PARTS } from '../domain/import-part.ts';
import { MAX_BULK_ITEMS } from '../domain/transaction.ts';
import { hash } from './row-ids.ts';
import type { LedgerRow, StatementRow, TransactionRow } from './transaction-row.ts';

/** One part of the record that the service keeps of an import. */
export interface RecordedPart {
  readonly importId: string;
  /** Number of the part, from 1. */
  readonly part: number;
  readonly rows: readonly string[];
}

const HASH_LENGTH = 16;

/** @returns undefined for a row without an identity, as in the export of a ledger */
export function recordRow(row: TransactionRow): string | undefined {
  return row.externalId === null ? undefined : hashIdentity(row.externalId) + hashContents(row);
}

type IdentifiedRow = TransactionRow & Pick<StatementRow, 'otherIds'>;

/** A row of the ledger, and the import that created it. */
type StoredRow = TransactionRow & Pick<LedgerRow, 'importId'>;

/** @param ledger transactions, which show what interrupted imports have created */
export function createRecordedRows(
  parts: readonly RecordedPart[],
  ledger: readonly StoredRow[] = [],
) {
  const { contents, created, possiblyCreated } = indexRecords(parts, ledger);

  function find({ externalId }: TransactionRow): string | undefined {
    return externalId === null ? undefined : contents.get(hashIdentity(externalId));
  }

  function wasCreated(externalId: string | null): boolean {
    return externalId !== null && created.has(hashIdentity(externalId));
  }

  return {
    /** Names of accounts that were given for the imports. */
    accounts: [...new Set(parts.flatMap(({ rows }) => readAccount(rows) ?? []))],
    /** True if an interrupted import may have created the row, and nothing shows whether it did. */
    isPossiblyCreated: ({ externalId }: TransactionRow): boolean =>
      possiblyCreated.size > 0 &&
      externalId !== null &&
      possiblyCreated.has(hashIdentity(externalId)),
    /** True if the row was created, even if the ledger no longer has it. */
    has: ({ externalId, otherIds }: IdentifiedRow): boolean =>
      created.size > 0 && (wasCreated(externalId) || (otherIds?.().some(wasCreated) ?? false)),
    /** True if the row was imported without a category and has not changed since, except that it may have one now. */
    isOnlyCategorised: (row: TransactionRow): boolean =>
      find(row) === hashContents({ ...row, category: null }),
    /** True if the row was imported with the date, type and amount of the other row, and edited since. */
    wasImportedAs: (row: TransactionRow, { date, type, amount }: TransactionRow): boolean => {
      const record = find(row);
      return (
        record !== undefined &&
        [null, row.category].some(
          (category) => hashContents({ ...row, date, type, amount, category }) === record,
        )
      );
    },
  };
}

/** Indexes records by the identity of their rows. */
function indexRecords(parts: readonly RecordedPart[], ledger: readonly StoredRow[]) {
  const contents = new Map<string, string>();
  const created = new Set<string>();
  const possiblyCreated = new Set<string>();
  const findImport = createImportFinder(ledger);
  for (const part of parts) {
    const resolvedPart = resolvePart(part, findImport);
    for (const row of resolvedPart.created) created.add(row.slice(0, HASH_LENGTH));
    for (const row of resolvedPart.possiblyCreated) possiblyCreated.add(row.slice(0, HASH_LENGTH));
    for (const row of part.rows) contents.set(row.slice(0, HASH_LENGTH), row.slice(HASH_LENGTH));
  }
  return { contents, created, possiblyCreated };
}

export type RecordedRows = ReturnType<typeof createRecordedRows>;

/** Keeps only the records of the given transactions in the parts. */
export function keepRecords(
  parts: readonly RecordedPart[],
  transactions: readonly TransactionRow[],
): readonly RecordedPart[] {
  const isRemaining = createRecordTest(transactions);
  return parts.map((part) => {
    const rows = part.rows.filter(isRemaining);
    return {
      ...part,
      rows: rows.length === 0 ? [] : [...part.rows.filter(isAccountName), ...rows],
    };
  });
}

/**
 * Returns the parts to write before an undo deletes all transactions except the given ones. The records of the others move after
 * a mark, so that rows deleted by an interrupted undo do not count as deleted by hand.
 */
export function announceRemoval(
  parts: readonly RecordedPart[],
  transactions: readonly TransactionRow[],
): readonly RecordedPart[] {
  const isRemaining = createRecordTest(transactions);
  return parts.map((part) => {
    const { name = [], others = [] } = Object.groupBy(part.rows, (row) =>
      isAccountName(row) ? 'name' : 'others',
    );
    const removedRows = others.filter((row) => !MARKS.includes(row) && !isRemaining(row));
    return { ...part, rows: [...name, ...others.filter(isRemaining), UNDONE_MARK, ...removedRows] };
  });
}

/** Returns a test for the records of the transactions. */
function createRecordTest(transactions: readonly TransactionRow[]): (record: string) => boolean {
  const ids = transactions.flatMap(({ externalId }) =>
    externalId === null ? [] : hashIdentity(externalId),
  );
  const keptHashes = new Set(ids);
  return (record) => keptHashes.has(record.slice(0, HASH_LENGTH));
}

export type WritePart = (part: RecordedPart) => Promise<unknown>;

/**
 * Rewrites the parts of interrupted imports: pending rows that were created are no longer pending. A part that was written since
 * it was read is skipped: its import continues, or has ended.
 * @param stored the records, and the rows of the ledger. Read the rows after the records: otherwise a row that was created in
 * between would count as not created
 */
export async function resolvePendingRecords(
  stored: { readonly imports: readonly RecordedPart[]; readonly rows: readonly StoredRow[] },
  access: {
    readonly readParts: () => Promise<readonly RecordedPart[]>;
    readonly writePart: WritePart;
  },
): Promise<void> {
  const pendingParts = stored.imports.filter(({ rows }) => splitAtMark(rows).after.length > 0);
  if (pendingParts.length === 0) return;
  const findImport = createImportFinder(stored.rows);
  const currentParts = new Set((await access.readParts()).map(describePart));
  for (const part of pendingParts.filter((each) => currentParts.has(describePart(each))))
    await access.writePart({ ...part, rows: resolvePart(part, findImport).created });
}

/**
 * Decides which rows of a part were created. A request creates its rows in order: if the ledger has one of them from this
 * import, those before it were created too, and were deleted by hand if the ledger lacks them. For those after it, nothing shows
 * whether they were created. Rows that an undo was deleting do not count as deleted by hand.
 */
function resolvePart({ importId, rows }: RecordedPart, findImport: ImportFinder) {
  const { before, mark, after } = splitAtMark(rows);
  const hasUndoneMark = mark === UNDONE_MARK;
  const lastCreatedIndex = hasUndoneMark
    ? -1
    : after.findLastIndex((record) => findImport(record) === importId);
  const { createdPending = [], possiblyCreated = [] } = Object.groupBy(after, (record, n) =>
    n <= lastCreatedIndex || findImport(record) !== undefined
      ? 'createdPending'
      : 'possiblyCreated',
  );
  const created = [...before, ...createdPending];
  return {
    created: created.every(isAccountName) ? [] : created,
    possiblyCreated: hasUndoneMark ? [] : possiblyCreated,
  };
}

/** Finds the import that created the row of a record: null if none did, undefined if the ledger lacks the row. */
type ImportFinder = (record: string) => string | null | undefined;

function createImportFinder(ledger: readonly StoredRow[]): ImportFinder {
  let imports: ReadonlyMap<string, string | null> | undefined;
  const listImports = () =>
    ledger.flatMap(({ externalId, importId }) =>
      externalId === null ? [] : [[hashIdentity(externalId), importId] as const],
    );
  return (record) => {
    // Computed on first use: few imports need the hashes of a whole ledger.
    imports ??= new Map(listImports());
    return imports.get(record.slice(0, HASH_LENGTH));
  };
}

function describePart({ importId, part, rows }: RecordedPart): string {
  return JSON.stringify([importId, part, rows]);
}

/**
 * Parts are small because each request writes its whole part again. A long import has larger parts, because their number is
 * limited.
 */
const MIN_PART_ROWS = 500;

interface RecordedImport {
  readonly importId: string;
  /** Number of rows that the import sends. */
  readonly total: number;
  /** The name that the user gave the account. */
  readonly account?: string | undefined;
}

interface OpenPart {
  readonly number: number;
  /** Records of rows that were created. */
  readonly created: string[];
  /** True if the stored part has the mark. */
  isMarked: boolean;
}

/** The records of a request's rows, until its results are known. */
interface Announcement {
  readonly part: OpenPart;
  readonly records: readonly string[];
}

/**
 * Records rows after a mark before they are sent, and then moves the created ones before the mark. After an interruption, the
 * record contains every row that the import may have created, and shows which of them are uncertain. A request may be announced
 * while the previous one is still running.
 */
export function createRecorder({ importId, total, account }: RecordedImport, writePart: WritePart) {
  const maxPartRows = Math.max(
    MIN_PART_ROWS,
    MAX_BULK_ITEMS * Math.ceil(total / (MAX_BULK_ITEMS * MAX_IMPORT_PARTS)),
  );
  const name = account === undefined ? [] : recordAccount(account);
  const announcements: Announcement[] = [];
  let parts: readonly OpenPart[] = [{ number: 1, created: [], isMarked: false }];

  const listPending = (part: OpenPart) =>
    announcements.flatMap((each) => (each.part === part ? each.records : []));
  const write = async (part: OpenPart) => {
    const pendingRecords = listPending(part);
    part.isMarked = pendingRecords.length > 0;
    const mark = part.isMarked ? [UNSENT_MARK] : [];
    const rows = [...name, ...part.created, ...mark, ...pendingRecords];
    await writePart({ importId, part: part.number, rows });
  };
  /** Writes the parts whose requests have all ended. */
  const clearMarks = async () => {
    for (const part of parts)
      if (part.isMarked && listPending(part).length === 0) await write(part);
  };
  const choosePart = (recordCount: number): OpenPart => {
    const lastPart = parts.at(-1) ?? { number: 0, created: [], isMarked: false };
    if (lastPart.created.length + listPending(lastPart).length + recordCount <= maxPartRows)
      return lastPart;
    const newPart = { number: lastPart.number + 1, created: [], isMarked: false };
    parts = [lastPart, newPart];
    return newPart;
  };
  return {
    /** Call this before the rows of a request are sent. */
    announce: async (rows: readonly TransactionRow[]): Promise<void> => {
      const records = listRecords(rows);
      const part = choosePart(records.length);
      announcements.push({ part, records });
      if (records.length === 0) return;
      await clearMarks();
      await write(part);
    },
    /**
     * Call this after each request, in the order of the announcements, and before the next request is sent: otherwise rows that
     * this request did not create would count as created as soon as the next one creates some.
     */
    confirm: async (createdRows: readonly TransactionRow[]): Promise<void> => {
      const { part, records } = announcements.shift() ?? { part: choosePart(0), records: [] };
      const createdRecords = listRecords(createdRows);
      part.created.push(...createdRecords);
      if (announcements.length > 0 && createdRecords.length < records.length) await write(part);
    },
    /** Call this after the last request. */
    close: clearMarks,
  };
}

function listRecords(rows: readonly TransactionRow[]): readonly string[] {
  return rows.flatMap((row) => recordRow(row) ?? []);
}

export type Recorder = ReturnType<typeof createRecorder>;

/** Mark before rows that may not have been created. */
const UNSENT_MARK = 'unsent';
/** Mark before rows that an undo may have deleted. */
const UNDONE_MARK = 'undone';
const MARKS: readonly string[] = [UNSENT_MARK, UNDONE_MARK];

function splitAtMark(rows: readonly string[]) {
  const markIndex = rows.findIndex((row) => MARKS.includes(row));
  const end = markIndex < 0 ? rows.length : markIndex;
  return { before: rows.slice(0, end), mark: rows[end], after: rows.slice(end + 1) };
}

/** Prefix of the strings that contain an account's name, cut into pieces as short as a record. */
const ACCOUNT_PREFIX = 'account-';
const BYTES_PER_PIECE = 18;

function recordAccount(account: string): readonly string[] {
  const bytes = new TextEncoder().encode(account);
  const texts = Math.ceil(bytes.length / BYTES_PER_PIECE);
  return Array.from({ length: texts }, (_, n) => {
    const piece = bytes.slice(n * BYTES_PER_PIECE, (n + 1) * BYTES_PER_PIECE);
    const text = btoa(String.fromCharCode(...piece));
    return ACCOUNT_PREFIX + text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  });
}

function isAccountName(row: string): boolean {
  return row.startsWith(ACCOUNT_PREFIX);
}

function readAccount(rows: readonly string[]): string | undefined {
  const texts = rows.filter(isAccountName).map((row) => {
    return atob(row.slice(ACCOUNT_PREFIX.length).replaceAll('-', '+').replaceAll('_', '/'));
  });
  if (texts.length === 0) return undefined;
  return new TextDecoder().decode(Uint8Array.from(texts.join(''), (each) => each.charCodeAt(0)));
}

function hashIdentity(externalId: string): string {
  return hash({ externalId }).slice(0, HASH_LENGTH);
}

function hashContents({
  date,
  description,
  amount,
  type,
  notes,
  category,
}: TransactionRow): string {
  return hash({ date, description, amount, type, notes, category }).slice(0, HASH_LENGTH);
}
