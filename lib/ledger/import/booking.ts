// Common form of every file format, before anything is decided: bookings as the bank states them.

/** One booking of an account. A reader fills in what its format has; null is for what it has not. */
export interface Booking {
  /** In the file, from 1; in a format without lines, the number of the booking. */
  readonly line: number;
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** In the account's currency; negative is money that went. */
  readonly signed: number;
  /** The file states the direction apart from the sign, in a word or in a column of its own. */
  readonly isDirectionStated: boolean;
  /** Text in the file, however it is interpreted: part of the identity of a booking with an id. */
  readonly writtenAmount: string;
  /** The most telling first, without empty ones: the other party, then the purpose. One is the description, the others are notes. */
  readonly texts: readonly string[];
  /** Such as "Card payment"; describes a booking that has no text. */
  readonly bookingType: string | null;
  /** They come before those of the texts. */
  readonly notes: string | null;
  readonly category: string | null;
  /** The bank's id; together with account, date and amount it names the booking. */
  readonly bankId: string | null;
  /** Remains of the bank's id in a spreadsheet: an earlier release took it for the id. */
  readonly roundedId?: string | null;
  /** A name or number, where the file has one. */
  readonly account: string | null;
  /** A code such as EUR, or a sign. */
  readonly currency: string | null;
  /** Left out where it says that no money has moved. */
  readonly status: string | null;
  /** Name of a column by which the booking may not count. */
  readonly doubt?: string | undefined;
  /** The account's balance after the booking. */
  readonly balance: number | null;
  /** The bank's id of the booking that this one belongs to, such as a currency conversion. */
  readonly reference: string | null;
  /** All texts of the row as written: what makes the identity of a booking without an id. */
  readonly cells: readonly string[];
  /** Reading by earlier releases, if it differs from this one's. */
  readonly former?: FormerReading;
}

export interface FormerReading {
  readonly description: string;
  readonly notes: string | null;
  readonly category: string | null;
  readonly bankId: string | null;
}

/** A row that was not read; the import goes on without it and fails in the end. */
export interface RefusedLine {
  readonly line: number;
  readonly message: string;
  /** It has a date and an amount. */
  readonly mayBeBooking?: boolean;
}

/** A row that is no booking. */
export interface LeftOutLine {
  readonly line: number;
  /** Such as "pending"; equal reasons are counted together. */
  readonly reason: string;
  readonly text: string;
}

/** Something that a person must decide before the import; the preview is shown, and nothing is sent. */
export interface Need {
  readonly question:
    | 'account'
    | 'decimal'
    | 'fees'
    | 'direction'
    | 'currency'
    | 'dates'
    | 'status'
    | 'columns'
    | 'postings';
  /** States the ambiguity, and the options that resolve it. */
  readonly message: string;
}

/** Result of reading a file in one of the formats. */
export interface ReadBookings {
  readonly bookings: readonly Booking[];
  readonly refused: readonly RefusedLine[];
  readonly leftOut: readonly LeftOutLine[];
  /** Notes for the user about how the file was read. */
  readonly findings: readonly string[];
  readonly needs: readonly Need[];
  /** Codes by which the file calls the account's currency; signs may stand beside amounts. */
  readonly currencies?: readonly string[];
}

/**
 * Divides texts into the description, which is the first, and notes. Banks cut a name to a field's width and repeat it whole in
 * the next field.
 * @param notes come before those of the texts
 */
export function describeTexts(texts: readonly string[], notes: string | null) {
  const [first, ...others] = texts;
  if (first === undefined || others.length === 0)
    return { description: first, notes: notes || null };
  const description = others.find((text) => text.startsWith(first)) ?? first;
  const rest = new Set(others.filter((text) => !description.includes(text)));
  return { description, notes: [...(notes === null ? [] : [notes]), ...rest].join('; ') || null };
}

/** Formats counts such as "1 row" and "2 rows". */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
