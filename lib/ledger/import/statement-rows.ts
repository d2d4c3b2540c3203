// The rows of a statement from its bookings: each with its identity, so that none is imported twice and none is lost.
import {
  type Booking,
  counted,
  type LeftOutLine,
  type Need,
  type ReadBookings,
  type RefusedLine,
} from './booking.ts';
import { type CheckOptions, checkBookings } from './check-bookings.ts';
import {
  createFormerIds,
  createRowIds,
  type FormerFields,
  identifyByBankId,
  type RowIds,
} from './row-ids.ts';
import { requireValid, type StatementRow } from './transaction-row.ts';

export interface RowOptions extends CheckOptions {
  /** A name for the account: equal rows of two accounts are two transactions. */
  readonly account: string | undefined;
  /** The encoding in which the file was read, chosen or guessed. */
  readonly encoding: string | undefined;
  /** The file has columns, which a user can choose. */
  readonly hasColumns: boolean;
}

export interface StatementRows {
  readonly rows: readonly StatementRow[];
  /** Rows that cannot be read. */
  readonly refused: readonly RefusedLine[];
  /** Rows that are no bookings of this account. */
  readonly leftOut: readonly LeftOutLine[];
  /** How many rows repeat an earlier one with the bank's id: they are one transaction. */
  readonly repeated: number;
  /** Notes for the user about how the file was read. */
  readonly findings: readonly string[];
  /** Questions that the user must answer before anything is imported. */
  readonly needs: readonly Need[];
}

/** Bookings of any format as the transactions that they become. */
export function makeRows(
  read: ReadBookings,
  { account, encoding, hasColumns, ...options }: RowOptions,
): StatementRows {
  const checked = checkBookings(read, options);
  const { bookings } = checked;
  const identities = bookings.map((booking) => identifyByBankId(booking, account));
  const shared = findShared(bookings, identities);
  const createIds = createRowIds(account, encoding);
  const createFormer = createFormerIds(account);
  const seen = new Set<string>();
  const dates = new Map<string, string>();
  const rows: StatementRow[] = [];
  const refused: RefusedLine[] = [...checked.refused];
  let [repeated, reused, undescribed] = [0, 0, 0];
  for (const [n, booking] of bookings.entries()) {
    const { line, bankId } = booking;
    const identity = identities[n] ?? null;
    try {
      if (identity !== null && shared.has(identity))
        throw shareError(shared.get(identity), booking);
      if (identity !== null && seen.has(identity)) {
        repeated += 1;
        continue;
      }
      if (bankId !== null && dates.has(bankId)) reused += 1;
      if (bankId !== null) dates.set(bankId, booking.date);
      if (identity !== null) seen.add(identity);
      const ids = identity === null ? createIds(booking) : { externalId: identity };
      const row = toRow(booking, ids, createFormer);
      requireValid(row);
      if (row.description === NO_DESCRIPTION) undescribed += 1;
      rows.push(row);
    } catch (error) {
      refused.push({ line, message: (error as Error).message });
    }
  }
  const { leftOut, needs } = checked;
  return {
    ...{ rows, leftOut, needs, repeated },
    findings: [
      ...checked.findings,
      ...describeIds(reused),
      ...describeTexts(undescribed, hasColumns),
    ],
    refused: refused.toSorted((one, other) => one.line - other.line),
  };
}

function describeIds(reused: number): readonly string[] {
  if (reused === 0) return [];
  return [
    `${counted(reused, 'row')} with the id of an earlier row, and another date or amount: other bookings`,
  ];
}

function describeTexts(undescribed: number, hasColumns: boolean): readonly string[] {
  if (undescribed === 0) return [];
  const advice = hasColumns ? '; name columns of texts with --description COLUMN,COLUMN' : '';
  return [`${counted(undescribed, 'row')} without a text: "${NO_DESCRIPTION}"${advice}`];
}

const NO_DESCRIPTION = '(no description)';

/** Rows with one identity and other content: one of them would be lost. */
function findShared(
  bookings: readonly Booking[],
  identities: readonly (string | null)[],
): ReadonlyMap<string | null, readonly Booking[]> {
  const isShared = ([identity, [first, ...others]]: [string | null, Booking[]]) => {
    if (identity === null) return false;
    const content = first?.cells.join('\n');
    return others.some(({ cells }) => cells.join('\n') !== content);
  };
  const byIdentity = Map.groupBy(bookings, (_, n) => identities[n] ?? null);
  return new Map([...byIdentity].filter(isShared));
}

function shareError(sharing: readonly Booking[] = [], booking: Booking): Error {
  const other = sharing.find((each) => each !== booking);
  return new Error(
    `line ${other?.line} has the same id "${booking.bankId}", date and amount, and other content. Name a column of unique ids with --id, or --id none`,
  );
}

type GivenIds = Pick<RowIds, 'externalId'> & Partial<Pick<RowIds, 'otherIds'>>;

function toRow(
  booking: Booking,
  { externalId, otherIds }: GivenIds,
  createFormer: ReturnType<typeof createFormerIds>,
): StatementRow {
  const { line, date, signed, texts, bookingType, notes, category, former, bankId } = booking;
  const type = signed < 0 ? 'expense' : 'income';
  const amount = Math.abs(signed);
  const description = texts[0] ?? notes ?? bookingType ?? NO_DESCRIPTION;
  const row = {
    line,
    date,
    type,
    amount,
    description,
    notes,
    category,
    externalId,
    bankId,
    formerBankId: former?.bankId ?? null,
    exported: null,
    ...(booking.balance === null ? {} : { hasBalance: true }),
  } as const;
  if (!otherIds) return row;
  const fields: FormerFields = {
    date,
    type,
    amount,
    ...(former ?? { description, notes, category }),
  };
  const formerIds = createFormer(fields);
  return { ...row, otherIds: () => [...formerIds(), ...otherIds()] };
}
