// The entries of a bank statement, as the bank states them. The reader of every format produces them, before anything is decided.

/** One entry of an account's statement. A format that lacks a field leaves it null. */
export interface Entry {
  /** Line in the file, from 1; in a format without lines, the number of the entry. */
  readonly line: number;
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** Amount in the account's currency, negative for an expense. */
  readonly signed: number;
  /** True if the file states the direction in a word or in a separate column, not only by a sign. */
  readonly isDirectionStated: boolean;
  /** The amount as text, part of the identity of an entry with an id. In a table, it is the amount before its direction is decided. */
  readonly writtenAmount: string;
  /**
   * Non-empty texts of the entry, the most telling first: the other party, then the purpose. One becomes the description, the
   * others become notes.
   */
  readonly texts: readonly string[];
  /** Kind of entry, such as "Card payment"; describes an entry that has no text. */
  readonly entryType: string | null;
  /** Notes of the file itself; those made from `texts` are added after them. */
  readonly notes: string | null;
  readonly category: string | null;
  /** The bank's id. With the account, the date and the amount it identifies the entry. */
  readonly bankId: string | null;
  /** The bank's id as a spreadsheet has rounded it; an earlier release stored it as the id. */
  readonly roundedId?: string | null;
  /** Name or number of the account, if the file has one. */
  readonly account: string | null;
  /** Currency code such as EUR, or a sign such as €. */
  readonly currency: string | null;
  /** The bank's word for the entry's state. An entry is left out if the word says that no money has moved. */
  readonly status: string | null;
  /** Header of a column that marks the entry as one that may not count. */
  readonly doubtfulColumn?: string | undefined;
  /** The account's balance after the entry. */
  readonly balance: number | null;
  /** The bank's id of the entry to which this one belongs, as a currency conversion belongs to a payment. */
  readonly reference: string | null;
  /** All cells of the row as written: the identity of an entry without an id. */
  readonly cells: readonly string[];
  /** The row as earlier releases read it, if they read it differently. */
  readonly legacy?: LegacyReading;
}

export interface LegacyReading {
  readonly description: string;
  readonly notes: string | null;
  readonly category: string | null;
  readonly bankId: string | null;
}

/** A row that could not be read. The other rows are imported, and the import then ends with a failure. */
export interface RefusedLine {
  readonly line: number;
  readonly message: string;
  /** True if the row has a date and an amount. */
  readonly mayBeEntry?: boolean;
}

/** A row that is not an entry. */
export interface LeftOutLine {
  readonly line: number;
  /** Why it was left out, such as "pending"; rows with the same reason are counted together. */
  readonly reason: string;
  readonly text: string;
}

/** A question that the user must answer before the import; the preview is shown, and nothing is sent. */
export interface Question {
  readonly topic:
    | 'account'
    | 'decimal'
    | 'fees'
    | 'direction'
    | 'currency'
    | 'dates'
    | 'status'
    | 'columns'
    | 'postings';
  /** Text for the user: the ambiguity, and the options that resolve it. */
  readonly message: string;
}

/** Entries of a file in any format. */
export interface ParsedEntries {
  readonly entries: readonly Entry[];
  readonly refused: readonly RefusedLine[];
  readonly leftOut: readonly LeftOutLine[];
  /** Notes for the user about how the file was read. */
  readonly findings: readonly string[];
  readonly questions: readonly Question[];
  /** Codes that the file gives for the account's currency; they decide what a sign such as $ beside an amount means. */
  readonly currencies?: readonly string[];
}

/**
 * Divides texts into a description and notes. The first text describes the entry, unless another one begins with it: banks
 * cut a name to a field's width and repeat it whole in the next field.
 * @param notes the file's own notes, which come first
 */
export function toDescriptionAndNotes(texts: readonly string[], notes: string | null) {
  const [first, ...others] = texts;
  if (first === undefined || others.length === 0)
    return { description: first, notes: notes || null };
  const description = others.find((text) => text.startsWith(first)) ?? first;
  const otherTexts = new Set(others.filter((text) => !description.includes(text)));
  return {
    description,
    notes: [...(notes === null ? [] : [notes]), ...otherTexts].join('; ') || null,
  };
}

/** Formats counts such as "1 row" and "2 rows". */
export function pluralize(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
