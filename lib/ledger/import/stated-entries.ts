// Functions shared by the readers of formats that banks write for programs (CAMT, OFX, QIF): exact amounts, texts without
// padding, and line numbers.
import { UserError } from '../../shared/user-error.ts';
import {
  type Entry,
  type LeftOutLine,
  type ParsedEntries,
  toDescriptionAndNotes,
} from './entry.ts';

/** Fields that the file states; the others of an entry are derived from them. */
export interface StatedEntry
  extends Pick<Entry, 'line' | 'date' | 'signed' | 'account' | 'bankId' | 'currency'> {
  /** Texts of the entry, the best description first. */
  readonly texts: readonly (string | null | undefined)[];
  readonly entryType?: string | null;
  readonly category?: string | null;
  /** Notes that come before those of the texts. */
  readonly remark?: string | null;
}

export function toEntry(statedEntry: StatedEntry): Entry {
  const { line, date, signed, account, bankId, currency, entryType = null } = statedEntry;
  const { category = null, remark = null } = statedEntry;
  const texts = statedEntry.texts.flatMap((text) => tidyText(text) ?? []);
  const { description, notes } = toDescriptionAndNotes(texts, remark);
  const sharedFields = { line, date, signed, account, bankId, currency, entryType, category };
  return {
    ...sharedFields,
    // Always two decimals: added zeros must not make another entry.
    writtenAmount: signed.toFixed(2),
    isDirectionStated: true,
    texts: description === undefined ? [] : [description],
    notes,
    ...{ status: null, balance: null, reference: null },
    cells: [account ?? '', date, signed.toFixed(2), ...texts, category ?? '', remark ?? ''],
  };
}

/**
 * Numbers entries that share a bank's id, date and amount but differ otherwise: some banks give several entries of a day one
 * id.
 */
export function numberSharedIds(entries: readonly Entry[]): readonly Entry[] {
  const contents = new Map<string, Map<string, number>>();
  return entries.map((entry) => {
    const { bankId, account, date, writtenAmount } = entry;
    if (bankId === null) return entry;
    const key = JSON.stringify([account, bankId, date, writtenAmount]);
    const numbers = contents.get(key) ?? new Map<string, number>();
    contents.set(key, numbers);
    const content = JSON.stringify(entry.cells);
    const number = numbers.get(content) ?? numbers.size + 1;
    numbers.set(content, number);
    return number === 1 ? entry : { ...entry, bankId: `${bankId}/${number}` };
  });
}

/**
 * Reads an amount without digit grouping: an optional sign, and one decimal point or comma.
 * @throws Error if the text is not such an amount, or has more than two decimals
 */
export function readExactAmount(text: string): number {
  const [, sign, whole, decimals = ''] = /^\s*([-+−]?)\s*(\d*)(?:[.,](\d*))?\s*$/.exec(text) ?? [];
  const cents = decimals.replace(/0+$/, '');
  if (whole === undefined || whole + decimals === '') throw new Error(`"${text}" is not an amount`);
  if (cents.length > 2) throw new Error(`the amount "${text}" has more than two decimals`);
  const amount = Number(`${whole || '0'}.${cents || '0'}`);
  // A zero with a minus is 0, not -0.
  return sign === '' || sign === '+' || amount === 0 ? amount : -amount;
}

/** Puts text on one line, without the padding of fixed-width fields; null if nothing is left. */
export function tidyText(text: string | null | undefined): string | null {
  return text?.replace(/\s+/g, ' ').trim() || null;
}

/** Returns a function that converts positions in a text to line numbers. Call it with ascending positions. */
export function createLineCounter(text: string): (position: number) => number {
  let line = 1;
  let nextBreak = text.indexOf('\n');
  return (position) => {
    while (nextBreak >= 0 && nextBreak < position) {
      line += 1;
      nextBreak = text.indexOf('\n', nextBreak + 1);
    }
    return line;
  };
}

export const INVESTMENTS = 'investments';

/** @throws UserError if a file has only investments, which a ledger of income and expenses does not keep */
export function refuseInvestments({
  entries,
  refused,
  leftOut,
}: Pick<ParsedEntries, 'entries' | 'refused' | 'leftOut'>): void {
  const isInvestment = ({ reason }: LeftOutLine) => reason === INVESTMENTS;
  if (entries.length + refused.length > 0 || !leftOut.some(isInvestment)) return;
  throw new UserError(
    'The file has only investments, which a ledger does not keep. Download the statement of a bank account, a card or cash.',
  );
}
