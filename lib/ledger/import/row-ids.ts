// The identity of a booking: the same at each reading of each file that has it, so that nothing is imported twice, and another
// one for every other booking, so that nothing is lost.
import type { Booking } from './booking.ts';
import { sha256Hex } from './sha256.ts';
import { createRereader } from './text-encoding.ts';

const MAX_ID_LENGTH = 128;
const HASH_LENGTH = 32;

/** Banks write these for a booking without an id. Read as ids, they would make equal bookings of a day a single one. */
const NO_ID = /^(?:NOTPROVIDED|NONREF|NOREF|N\/A|NONE|NULL|[0-]*)$/i;

/** @returns null where the text is no id */
export function toBankId(text: string | null): string | null {
  return text === null || NO_ID.test(text) ? null : text;
}

/** A spreadsheet keeps 15 digits of a number, and shows fewer of them: several ids look like one. */
const SHORTENED_ID = /^\d(?:[.,]\d+)?E\+\d+$/i;
const LONG_ID = /^\d{18,}$/;
const ZEROS_AT_END = /^\d{15}0{3,}$/;

/** @param ids those of a column: some end in zeros by chance, and all of them do if a spreadsheet has rounded them */
export function createRoundedIdTest(ids: readonly (string | null)[]): (id: string) => boolean {
  const isRounded = ids.every((id) => id === null || !LONG_ID.test(id) || ZEROS_AT_END.test(id));
  return (id) => SHORTENED_ID.test(id) || (isRounded && ZEROS_AT_END.test(id));
}

/**
 * With a bank's id: that id, date and amount as the file has them, and the account. Banks use ids again, and each account has
 * its own.
 * @param account that a person has named; in its place, the account that the file names
 */
export function identifyByBankId(
  booking: Identifiable,
  account: string | undefined,
): string | null {
  const { bankId, date, writtenAmount } = booking;
  if (bankId === null) return null;
  const owner = account ?? booking.account;
  const id = [bankId, date, writtenAmount, ...(owner === null ? [] : [owner])].join(' ');
  return id.length <= MAX_ID_LENGTH ? id : `bank-${hash({ bankId, date, writtenAmount, owner })}`;
}

type Identifiable = Pick<Booking, 'bankId' | 'date' | 'writtenAmount' | 'account'>;

/** The bank's id in an identity; the whole of it in what earlier releases stored. */
export function readBankId(identity: string): string {
  const made = /^(.{1,110}?) \d{4}-\d\d-\d\d (?:debit |credit )?-?[\d.]+(?: .*)?$/s.exec(identity);
  return made?.[1] ?? identity;
}

export interface RowIds {
  readonly externalId: string;
  /** Makes the id under another name of the account, or without one. */
  readonly idUnder: (account: string | undefined) => string;
  /** Makes the ids that the row would have if its file was read in another encoding. */
  readonly otherIds: () => readonly string[];
}

/**
 * Without a bank's id: the row as the bank wrote it, and its number among equal ones. Which columns are read, and how, does
 * not matter.
 * @param account part of the ids: equal rows of two accounts are two transactions
 * @param encoding in which the file was read
 */
export function createRowIds(
  account: string | undefined,
  encoding = 'utf-8',
): (booking: Booking) => RowIds {
  const count = createCounter();
  const rereadText = createRereader(encoding);
  return ({ cells }) => {
    const width = cells.findLastIndex((cell) => cell !== '') + 1;
    const written = cells.slice(0, width);
    const id = identify(written, account);
    const number = count(id);
    return {
      externalId: `${id}-${number}`,
      idUnder: (owner) => `${identify(written, owner)}-${number}`,
      otherIds: () =>
        rereadText(written.join(CELL_END)).map(
          (text) => `${identify(text.split(CELL_END), account)}-${number}`,
        ),
    };
  };
}

function identify(cells: readonly string[], account: string | undefined): string {
  return `row-${hash({ cells, account })}`;
}

/** Occurs in no cell. */
const CELL_END = '\0';

/** Fields from which version 0.1.0 made an id, in this order. */
export interface FormerFields {
  readonly description: string;
  readonly amount: number;
  readonly type: string;
  readonly date: string;
  readonly notes: string | null;
  readonly category: string | null;
}

/**
 * The ids that imports of version 0.1.0 made, which number equal rows in the order of the file. Few files need them: they are made
 * when the first one is asked for, after all rows are known.
 */
export function createFormerIds(
  account: string | undefined,
): (fields: FormerFields) => () => readonly string[] {
  const all: FormerFields[] = [];
  let ids: readonly string[] | undefined;
  const make = () => {
    const count = createCounter();
    return all.map(({ description, amount, type, date, notes, category }) => {
      const id = `csv-${hash({ description, amount, type, date, notes, category, account })}`;
      return `${id}-${count(id)}`;
    });
  };
  return (fields) => {
    const index = all.push(fields) - 1;
    return () => {
      ids ??= make();
      return ids.slice(index, index + 1);
    };
  };
}

function createCounter(): (id: string) => number {
  const seen = new Map<string, number>();
  return (id) => {
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return count;
  };
}

/** 32 hexadecimal digits. */
export function hash(value: object): string {
  return sha256Hex(JSON.stringify(value)).slice(0, HASH_LENGTH);
}
