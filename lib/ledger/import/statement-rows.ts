// Turns the bookings of a statement into rows with an identity, so that none is imported twice and none is lost.
import {
  type Booking,
  type LeftOutLine,
  type ParsedBookings,
  pluralize,
  type Question,
  type RefusedLine,
  toDescriptionAndNotes,
} from './booking.ts';
import { type CheckOptions, checkBookings, describeBooking } from './check-bookings.ts';
import { createLegacyIds, createRowIds, identifyByBankId } from './row-ids.ts';
import { requireValid, type StatementRow } from './transaction-row.ts';

export interface RowOptions extends CheckOptions {
  /** A name for the account: equal rows of two accounts are two transactions. */
  readonly account: string | undefined;
  /** The encoding in which the file was read, chosen or guessed. */
  readonly encoding: string | undefined;
  /** True if the file has columns, which the user can choose. */
  readonly hasColumns: boolean;
}

export interface StatementRows {
  readonly rows: readonly StatementRow[];
  /** Rows that cannot be read. */
  readonly refused: readonly RefusedLine[];
  /** Rows that are not bookings of this account, or repeat one. */
  readonly leftOut: readonly LeftOutLine[];
  /** Notes for the user about how the file was read. */
  readonly findings: readonly string[];
  /** Questions that the user must answer before anything is imported. */
  readonly questions: readonly Question[];
}

/** Turns bookings of any format into rows, one for each transaction. */
export function makeRows(
  parsed: ParsedBookings,
  { account, encoding, hasColumns, ...options }: RowOptions,
): StatementRows {
  const { bookings, leftOut, findings, questions, ...checkedBookings } = checkBookings(
    parsed,
    options,
  );
  const { unique, repeatedLines, refused, reusedIdCount } = compareIds(bookings, account);
  const toRow = createRowBuilder(account, encoding);
  const rows: StatementRow[] = [];
  for (const { booking, identity } of unique) {
    try {
      const row = toRow(booking, identity);
      requireValid(row);
      rows.push(row);
    } catch (error) {
      refused.push({ line: booking.line, message: (error as Error).message });
    }
  }
  return {
    ...{ rows, questions },
    leftOut: [...leftOut, ...repeatedLines].toSorted(compareByLine),
    refused: [...checkedBookings.refused, ...refused].toSorted(compareByLine),
    findings: [
      ...findings,
      ...describeIds(reusedIdCount),
      ...describeRounded(bookings),
      ...describeMissingTexts(rows, hasColumns),
    ],
  };
}

function compareByLine(a: { readonly line: number }, b: { readonly line: number }): number {
  return a.line - b.line;
}

interface IdentifiedBooking {
  readonly booking: Booking;
  /** Identity by the bank's id; null without one. */
  readonly identity: string | null;
}

interface ComparedIds {
  readonly unique: readonly IdentifiedBooking[];
  /** Rows that equal an earlier one, including its id: they are one transaction. */
  readonly repeatedLines: readonly LeftOutLine[];
  readonly refused: RefusedLine[];
  /** Number of rows that have the id of an earlier row, but another date or amount. */
  readonly reusedIdCount: number;
}

function compareIds(bookings: readonly Booking[], account: string | undefined): ComparedIds {
  const identifiedBookings = bookings.map((booking) => ({
    booking,
    identity: identifyByBankId(booking, account),
  }));
  const sharedIdentities = findSharedIdentities(identifiedBookings);
  const bookingByIdentity = new Map<string, Booking>();
  const seenBankIds = new Set<string>();
  const unique: IdentifiedBooking[] = [];
  const repeatedLines: LeftOutLine[] = [];
  const refused: RefusedLine[] = [];
  let reusedIdCount = 0;
  for (const each of identifiedBookings) {
    const { booking, identity } = each;
    const sharingBookings = identity === null ? undefined : sharedIdentities.get(identity);
    const earlierBooking = identity === null ? undefined : bookingByIdentity.get(identity);
    if (sharingBookings)
      refused.push({ line: booking.line, message: describeShared(sharingBookings, booking) });
    else if (earlierBooking) repeatedLines.push(describeRepeated(booking, earlierBooking));
    else {
      if (booking.bankId !== null && seenBankIds.has(booking.bankId)) reusedIdCount += 1;
      if (booking.bankId !== null) seenBankIds.add(booking.bankId);
      if (identity !== null) bookingByIdentity.set(identity, booking);
      unique.push(each);
    }
  }
  return { unique, repeatedLines, refused, reusedIdCount };
}

/** Finds rows with the same identity but different content, one of which would be lost. */
function findSharedIdentities(
  identifiedBookings: readonly IdentifiedBooking[],
): ReadonlyMap<string | null, readonly IdentifiedBooking[]> {
  const isShared = ([identity, [first, ...others]]: [string | null, IdentifiedBooking[]]) => {
    if (identity === null) return false;
    const content = first?.booking.cells.join('\n');
    return others.some(({ booking }) => booking.cells.join('\n') !== content);
  };
  return new Map([...Map.groupBy(identifiedBookings, ({ identity }) => identity)].filter(isShared));
}

function describeShared(sharingBookings: readonly IdentifiedBooking[], booking: Booking): string {
  const otherRow = sharingBookings.find((each) => each.booking !== booking);
  return `line ${otherRow?.booking.line} has the same id "${booking.bankId}", date and amount, but different content. Name a column of unique ids with --id, or --id none`;
}

function describeRepeated(
  { line, bankId, ...booking }: Booking,
  earlierBooking: Booking,
): LeftOutLine {
  return {
    line,
    reason: 'equal to an earlier row with the same id',
    text: `line ${earlierBooking.line} again, with the id "${bankId}": ${describeBooking(booking)}`,
  };
}

function describeIds(reusedIdCount: number): readonly string[] {
  if (reusedIdCount === 0) return [];
  return [
    `${pluralize(reusedIdCount, 'row')} with the id of an earlier row, but another date or amount: read as separate bookings`,
  ];
}

function describeRounded(bookings: readonly Booking[]): readonly string[] {
  const [first, ...others] = bookings.flatMap(({ roundedId }) => roundedId ?? []);
  if (first === undefined) return [];
  return [
    `${pluralize(others.length + 1, 'row')} with an id that a spreadsheet has rounded, such as "${first}": read without the id`,
  ];
}

function describeMissingTexts(
  rows: readonly StatementRow[],
  hasColumns: boolean,
): readonly string[] {
  const undescribedCount = rows.filter(({ description }) => description === NO_DESCRIPTION).length;
  if (undescribedCount === 0) return [];
  const advice = hasColumns ? '; name text columns with --description COLUMN,COLUMN' : '';
  return [`${pluralize(undescribedCount, 'row')} without text: "${NO_DESCRIPTION}"${advice}`];
}

const NO_DESCRIPTION = '(no description)';

function createRowBuilder(account: string | undefined, encoding: string | undefined) {
  const createIds = createRowIds(account, encoding);
  const createLegacy = createLegacyIds(account);
  const listRoundedIds = createRoundedIds(account);
  return (booking: Booking, identity: string | null): StatementRow => {
    const { line, date, signed, category, legacy, bankId } = booking;
    const type = signed < 0 ? 'expense' : 'income';
    const amount = Math.abs(signed);
    const { description = booking.notes ?? booking.bookingType ?? NO_DESCRIPTION, notes } =
      toDescriptionAndNotes(booking.texts, booking.notes);
    const legacyBankId = legacy?.bankId ?? null;
    const hasBalance = booking.balance !== null;
    if (identity !== null)
      return {
        ...{ line, date, type, amount, description, notes, category, bankId, legacyBankId },
        hasBalance,
        exported: null,
        externalId: identity,
        idWithAccount: (otherAccount) => identifyByBankId(booking, otherAccount),
      };
    const { externalId, otherIds, idWithAccount } = createIds(booking);
    const legacyFields = legacy ?? { description, notes, category };
    const legacyIds = createLegacy({ ...legacyFields, date, type, amount });
    const roundedIds = listRoundedIds(booking);
    return {
      ...{ line, date, type, amount, description, notes, category, bankId, legacyBankId },
      hasBalance,
      exported: null,
      ...{ externalId, idWithAccount },
      otherIds: () => [...legacyIds(), ...otherIds(), ...roundedIds],
    };
  };
}

/**
 * Computes the identities that an earlier release gave to rows with rounded ids. It imported only the first of equal rows, so
 * only that one has such an identity.
 */
function createRoundedIds(account: string | undefined): (booking: Booking) => readonly string[] {
  const usedIds = new Set<string>();
  return (booking) => {
    const { roundedId } = booking;
    if (roundedId == null) return NO_IDS;
    const id = identifyByBankId({ ...booking, bankId: roundedId }, account);
    if (id === null || usedIds.has(id)) return NO_IDS;
    usedIds.add(id);
    return [id];
  };
}

const NO_IDS: readonly string[] = [];
