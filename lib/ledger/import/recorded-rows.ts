// Fingerprints that a ledger keeps of imported rows: the row's identity, and its contents. With them, a later import knows a
// row that was deleted by hand, and an undo knows a row that only a category was added to.
import { MAX_IMPORT_PARTS } from '../domain/import-part.ts';
import { MAX_BULK_ITEMS } from '../domain/transaction.ts';
import { hash } from './row-ids.ts';
import type { StatementRow, TransactionRow } from './transaction-row.ts';

/** A part of what the service has recorded of an import. */
export interface RecordedPart {
  readonly importId: string;
  /** From 1. */
  readonly part: number;
  readonly rows: readonly string[];
}

const HASH_LENGTH = 16;

/** Undefined for a row that has no identity, as in the export of a ledger. */
export function recordRow(row: TransactionRow): string | undefined {
  return row.externalId === null ? undefined : identify(row.externalId) + describe(row);
}

type Identified = TransactionRow & Pick<StatementRow, 'otherIds'>;

export function createRecordedRows(parts: readonly RecordedPart[]) {
  const contents = new Map<string, string>();
  const sent = new Set<string>();
  for (const { rows } of parts) {
    const { before, after } = splitAtMark(rows);
    for (const row of before) sent.add(row.slice(0, HASH_LENGTH));
    for (const row of [...before, ...after])
      contents.set(row.slice(0, HASH_LENGTH), row.slice(HASH_LENGTH));
  }

  function find({ externalId }: TransactionRow): string | undefined {
    return externalId === null ? undefined : contents.get(identify(externalId));
  }

  function isKnown(externalId: string | null): boolean {
    return externalId !== null && sent.has(identify(externalId));
  }

  return {
    /** The row was created, even if the ledger does not have it any more. */
    has: ({ externalId, otherIds }: Identified): boolean =>
      sent.size > 0 && (isKnown(externalId) || (otherIds?.().some(isKnown) ?? false)),
    /** The row is as it was imported, without a category, except that it may have one now. */
    isOnlyCategorised: (row: TransactionRow): boolean =>
      find(row) === describe({ ...row, category: null }),
    /** It was imported with the date, type and amount of the other row, which were edited since. */
    wasImportedAs: (row: TransactionRow, { date, type, amount }: TransactionRow): boolean => {
      const record = find(row);
      return (
        record !== undefined &&
        [null, row.category].some(
          (category) => describe({ ...row, date, type, amount, category }) === record,
        )
      );
    },
  };
}

export type RecordedRows = ReturnType<typeof createRecordedRows>;

/** Parts with the records of these transactions alone. */
export function keepRecords(
  parts: readonly RecordedPart[],
  transactions: readonly TransactionRow[],
): readonly RecordedPart[] {
  const isKept = recognize(transactions);
  return parts.map((part) => ({ ...part, rows: part.rows.filter(isKept) }));
}

/**
 * Parts as they are to be written before all but these transactions are deleted: the others are behind the mark, so that those
 * which an interrupted undo has deleted do not count as deleted by hand.
 */
export function announceRemoval(
  parts: readonly RecordedPart[],
  transactions: readonly TransactionRow[],
): readonly RecordedPart[] {
  const isKept = recognize(transactions);
  return parts.map((part) => {
    const leaving = part.rows.filter((row) => row !== MARK && !isKept(row));
    return { ...part, rows: [...part.rows.filter(isKept), MARK, ...leaving] };
  });
}

function recognize(transactions: readonly TransactionRow[]): (record: string) => boolean {
  const ids = transactions.flatMap(({ externalId }) =>
    externalId === null ? [] : identify(externalId),
  );
  const kept = new Set(ids);
  return (record) => kept.has(record.slice(0, HASH_LENGTH));
}

export type WritePart = (part: RecordedPart) => Promise<unknown>;

/**
 * Rewrites the parts of interrupted imports: of the pending rows, those that the ledger has count as sent. A part that was written
 * since it was read is left alone: its import goes on, or has ended.
 * @param stored the records, and the rows of the ledger, read after them: no row that was created in between counts as unsent
 */
export async function resolvePendingRecords(
  stored: { readonly imports: readonly RecordedPart[]; readonly rows: readonly TransactionRow[] },
  access: {
    readonly readParts: () => Promise<readonly RecordedPart[]>;
    readonly writePart: WritePart;
  },
): Promise<void> {
  const pending = stored.imports.filter(({ rows }) => splitAtMark(rows).after.length > 0);
  if (pending.length === 0) return;
  const current = new Set((await access.readParts()).map(describePart));
  for (const part of pending.filter((each) => current.has(describePart(each)))) {
    const { before, after } = splitAtMark(part.rows);
    const [found] = keepRecords([{ ...part, rows: after }], stored.rows);
    await access.writePart({ ...part, rows: [...before, ...(found?.rows ?? [])] });
  }
}

function describePart({ importId, part, rows }: RecordedPart): string {
  return JSON.stringify([importId, part, rows]);
}

/** Rows of a part, each of which is written again with each request of rows; a long import has larger parts. */
const ROWS_OF_PART = 500;

/**
 * Records rows before they are sent, behind a mark, and moves the mark behind those that were created. After an interruption, the
 * record has every row that the import can have created, and tells those that may not have been.
 * @param total rows that the import sends
 */
export function createRecorder(
  { importId, total }: { readonly importId: string; readonly total: number },
  writePart: WritePart,
) {
  const rowsOfPart = Math.max(
    ROWS_OF_PART,
    MAX_BULK_ITEMS * Math.ceil(total / (MAX_BULK_ITEMS * MAX_IMPORT_PARTS)),
  );
  let part = 1;
  let sent: string[] = [];
  let isAnnounced = false;
  const write = async (rows: readonly string[]) => {
    isAnnounced = rows.includes(MARK);
    await writePart({ importId, part, rows });
  };
  const listRecords = (rows: readonly TransactionRow[]) =>
    rows.flatMap((row) => recordRow(row) ?? []);
  return {
    /** Before the rows are sent. */
    announce: async (rows: readonly TransactionRow[]): Promise<void> => {
      const next = listRecords(rows);
      if (next.length === 0) return;
      if (sent.length + next.length > rowsOfPart) {
        await write(sent);
        part += 1;
        sent = [];
      }
      await write([...sent, MARK, ...next]);
    },
    /** After they were sent; written with the next announcement. */
    confirm: (created: readonly TransactionRow[]): void => {
      sent = [...sent, ...listRecords(created)];
    },
    /** After the last one. */
    close: async (): Promise<void> => {
      if (isAnnounced) await write(sent);
    },
  };
}

export type Recorder = ReturnType<typeof createRecorder>;

/** Rows after it may not have been created. */
const MARK = 'unsent';

function splitAtMark(rows: readonly string[]) {
  const mark = rows.indexOf(MARK);
  const end = mark < 0 ? rows.length : mark;
  return { before: rows.slice(0, end), after: rows.slice(end + 1) };
}

function identify(externalId: string): string {
  return hash({ externalId }).slice(0, HASH_LENGTH);
}

function describe({ date, description, amount, type, notes, category }: TransactionRow): string {
  return hash({ date, description, amount, type, notes, category }).slice(0, HASH_LENGTH);
}
