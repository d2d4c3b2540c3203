// Creates the identity of an entry: always the same for one entry, so that nothing is imported twice, and different for every
// other entry, so that nothing is lost.
import type { Entry } from './entry.ts';
import { sha256Hex } from './sha256.ts';
import { createRereader } from './text-encoding.ts';

const MAX_ID_LENGTH = 128;
const HASH_LENGTH = 32;

/** Placeholders that banks write for a missing id. Read as ids, they would merge equal entries of a day into one. */
const ID_PLACEHOLDER = /^(?:NOTPROVIDED|NONREF|NOREF|N\/A|NONE|NULL|[0-]*)$/i;

/** @returns null if the text is not an id */
export function toBankId(text: string | null): string | null {
  return text === null || ID_PLACEHOLDER.test(text) ? null : text;
}

/** A spreadsheet keeps 15 digits of a number, and shows even fewer, so different ids become equal. */
const SHORTENED_ID = /^\d(?:[.,]\d+)?E\+\d+$/i;
const LONG_ID = /^\d{18,}$/;
const ZEROS_AT_END = /^\d{15}0{3,}$/;

/** @param ids the ids of a column: a few end in zeros by chance, but all of them do if a spreadsheet has rounded them */
export function createRoundedIdTest(ids: readonly (string | null)[]): (id: string) => boolean {
  const isColumnRounded = ids.every(
    (id) => id === null || !LONG_ID.test(id) || ZEROS_AT_END.test(id),
  );
  return (id) => SHORTENED_ID.test(id) || (isColumnRounded && ZEROS_AT_END.test(id));
}

/**
 * Creates the identity of an entry with a bank's id: that id, the date, the amount and the account. Banks reuse ids, and each
 * account has its own. In a table the amount has no decided direction yet, so an option such as --invert does not change the
 * identity.
 * @param account the name that the user gave; without one, the account that the file names
 */
export function identifyByBankId(
  entry: IdentifiableEntry,
  account: string | undefined,
): string | null {
  const { bankId, date, writtenAmount } = entry;
  if (bankId === null) return null;
  const owner = account ?? entry.account;
  const id = [bankId, date, writtenAmount, ...(owner === null ? [] : [owner])].join(' ');
  return id.length <= MAX_ID_LENGTH ? id : `bank-${hash({ bankId, date, writtenAmount, owner })}`;
}

type IdentifiableEntry = Pick<Entry, 'bankId' | 'date' | 'writtenAmount' | 'account'>;

/** Reads the bank's id from an identity. Earlier releases stored the bank's id alone, so the whole text is the id then. */
export function readBankId(identity: string): string {
  const match = /^(.{1,110}?) \d{4}-\d\d-\d\d (?:debit |credit )?-?[\d.]+(?: .*)?$/s.exec(identity);
  return match?.[1] ?? identity;
}

export interface RowIds {
  readonly externalId: string;
  /** Computes the id that the row has under another name of the account, or without one. */
  readonly idWithAccount: (account: string | undefined) => string;
  /** Computes the ids that the row would have if the file were read in another encoding. */
  readonly otherIds: () => readonly string[];
}

/**
 * Creates the identity of an entry without a bank's id: the row as the bank wrote it, and its number among equal rows. It does
 * not depend on which columns are read, or how.
 * @param account part of the ids: equal rows of two accounts are two transactions
 * @param encoding the encoding in which the file was read
 */
export function createRowIds(
  account: string | undefined,
  encoding = 'utf-8',
): (entry: Entry) => RowIds {
  const countOccurrence = createCounter();
  const rereadText = createRereader(encoding);
  return ({ cells }) => {
    const width = cells.findLastIndex((cell) => cell !== '') + 1;
    const filledCells = cells.slice(0, width);
    const id = identifyByCells(filledCells, account);
    const number = countOccurrence(id);
    return {
      externalId: `${id}-${number}`,
      idWithAccount: (owner) => `${identifyByCells(filledCells, owner)}-${number}`,
      otherIds: () =>
        rereadText(filledCells.join(CELL_END)).map(
          (text) => `${identifyByCells(text.split(CELL_END), account)}-${number}`,
        ),
    };
  };
}

function identifyByCells(cells: readonly string[], account: string | undefined): string {
  return `row-${hash({ cells, account })}`;
}

/** A character that no cell contains. */
const CELL_END = '\0';

/** Fields from which version 0.1.0 made an id, in this order. */
export interface LegacyFields {
  readonly description: string;
  readonly amount: number;
  readonly type: string;
  readonly date: string;
  readonly notes: string | null;
  readonly category: string | null;
}

/**
 * Computes the ids that version 0.1.0 gave, which number equal rows in the order of the file. Few files need them, so they are
 * computed at the first call, after all rows are known.
 */
export function createLegacyIds(
  account: string | undefined,
): (fields: LegacyFields) => () => readonly string[] {
  const fieldsOfRows: LegacyFields[] = [];
  let ids: readonly string[] | undefined;
  const computeAll = () => {
    const count = createCounter();
    return fieldsOfRows.map(({ description, amount, type, date, notes, category }) => {
      const id = `csv-${hash({ description, amount, type, date, notes, category, account })}`;
      return `${id}-${count(id)}`;
    });
  };
  return (fields) => {
    const index = fieldsOfRows.push(fields) - 1;
    return () => {
      ids ??= computeAll();
      return ids.slice(index, index + 1);
    };
  };
}

function createCounter(): (id: string) => number {
  const countById = new Map<string, number>();
  return (id) => {
    const count = (countById.get(id) ?? 0) + 1;
    countById.set(id, count);
    return count;
  };
}

/** The first 32 hexadecimal digits of the SHA-256 of a value's JSON. */
export function hash(value: object): string {
  return sha256Hex(JSON.stringify(value)).slice(0, HASH_LENGTH);
}
