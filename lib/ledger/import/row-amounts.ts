// Reads the amount of each row of a table, from one column or from a column of expenses and one of income.
import { type DecimalSeparator, isEmptyAmount, type ParsedAmount, readAmount } from './amounts.ts';
import { createDirectionReader, type TypeWords } from './direction.ts';

/** Cells of a row; null if a cell is empty or the table has no such column. */
export interface AmountCells {
  readonly amount: string | null;
  readonly debit: string | null;
  readonly credit: string | null;
  readonly type: string | null;
  readonly balance: string | null;
}

export interface RowAmount {
  /** Negative for an expense; 0 if no money moved. */
  readonly signed: number;
  readonly isStated: boolean;
  /** The amount as text, part of the identity of an entry with an id, before its direction is decided. */
  readonly writtenAmount: string;
  readonly currency: string | null;
  /** Column with the amount; null if one column has all amounts. */
  readonly side: 'debit' | 'credit' | null;
  readonly balance: number | null;
  /** True if the word beside the amount says neither income nor expense. */
  readonly isNeutral: boolean;
}

export interface RowAmounts {
  /** The amount of each row, or why it has none. */
  readonly rows: readonly (RowAmount | Error)[];
  /** True if the direction column decides. */
  readonly usesTypeColumn: boolean;
}

export interface AmountOptions {
  readonly decimal: DecimalSeparator;
  readonly words: Partial<TypeWords>;
  readonly isSplit: boolean;
  readonly hasType: boolean;
  /** True if the user has said that positive amounts are expenses. */
  readonly isInverted: boolean;
}

/** @throws UserError if the user gives words for a direction column, but the table has none */
export function readRowAmounts(cells: readonly AmountCells[], options: AmountOptions): RowAmounts {
  return options.isSplit
    ? { rows: readTwoColumns(cells, options), usesTypeColumn: false }
    : readOneColumn(cells, options);
}

function readOneColumn(
  cells: readonly AmountCells[],
  { decimal, words, hasType, isInverted }: AmountOptions,
): RowAmounts {
  const writtenAmounts = cells.map(({ amount }) => attempt(() => readCell(amount, decimal)));
  const amounts = hasType || isInverted ? writtenAmounts : markPluses(writtenAmounts, cells);
  const directions = createDirectionReader(
    amounts.flatMap((amount, n) =>
      amount instanceof Error ? [] : { amount, word: cells[n]?.type ?? null },
    ),
    words,
    hasType,
  );
  const rows = cells.map(({ type, balance }, n): RowAmount | Error => {
    const amount = amounts[n] ?? new Error(NO_AMOUNT);
    if (amount instanceof Error) return amount;
    return attempt(() => {
      const { signed, isStated, isNeutral = false } = directions.read(amount, type);
      return {
        signed,
        isStated,
        isNeutral,
        currency: amount.currency,
        side: null,
        writtenAmount: String(amount.signed),
        balance: tryReadNumber(balance, decimal),
      };
    });
  });
  return { rows, usesTypeColumn: directions.usesColumn };
}

/**
 * Reads a plus as a word for income, because card issuers write it only beside payments. It counts only if no amount has a minus,
 * and the file has no balances, which are better evidence.
 */
function markPluses(
  amounts: readonly (ParsedAmount | Error)[],
  cells: readonly AmountCells[],
): readonly (ParsedAmount | Error)[] {
  const isPlus = ({ amount }: AmountCells) => amount?.startsWith('+') ?? false;
  const hasMinus = amounts.some((amount) => !(amount instanceof Error) && amount.signed < 0);
  const hasBalance = cells.some(({ balance }) => balance !== null);
  if (hasBalance || hasMinus || !cells.some(isPlus) || cells.every(isPlus)) return amounts;
  return amounts.map((amount, n) => {
    const cell = cells[n];
    if (amount instanceof Error || !cell || !isPlus(cell)) return amount;
    return { ...amount, direction: amount.direction ?? 'income' };
  });
}

const NO_AMOUNT = 'It has no amount (--amount names another column).';

function readCell(text: string | null, decimal: DecimalSeparator): ParsedAmount {
  if (text === null) throw new Error(NO_AMOUNT);
  return readAmount(text, decimal);
}

/**
 * Reads amounts from two columns. The column decides the direction; its numbers usually share one sign, and the few with the
 * other sign are reversals.
 */
function readTwoColumns(
  cells: readonly AmountCells[],
  { decimal }: AmountOptions,
): readonly (RowAmount | Error)[] {
  const readSide = (text: string | null) =>
    isEmptyAmount(text) ? null : readAmount(text ?? '', decimal);
  const sides = cells.map(({ debit, credit }) =>
    attempt(() => ({ debit: readSide(debit), credit: readSide(credit) })),
  );
  const readableSides = sides.flatMap((side) => (side instanceof Error ? [] : side));
  const isDebitNegative = isMostlyNegative(readableSides.map(({ debit }) => debit));
  const isCreditNegative = isMostlyNegative(readableSides.map(({ credit }) => credit));
  return sides.map((parsedSides, n) => {
    if (parsedSides instanceof Error) return parsedSides;
    const { debit, credit } = parsedSides;
    if (debit === null && credit === null) return new Error('It has neither a debit nor a credit.');
    if (debit && credit && debit.signed !== 0 && credit.signed !== 0)
      return new Error('It has a debit and a credit.');
    const isDebit = debit !== null && (debit.signed !== 0 || credit === null);
    const { signed = 0, currency = null } = (isDebit ? debit : credit) ?? {};
    const side = isDebit ? 'debit' : 'credit';
    const size = (isDebit ? isDebitNegative : isCreditNegative) ? 0 - signed : signed;
    return {
      signed: isDebit ? 0 - size : size,
      isStated: true,
      isNeutral: false,
      currency,
      side,
      writtenAmount: `${side} ${signed}`,
      balance: tryReadNumber(cells[n]?.balance, decimal),
    };
  });
}

function isMostlyNegative(amounts: readonly (ParsedAmount | null)[]): boolean {
  const signs = amounts.flatMap((amount) => Math.sign(amount?.signed ?? 0) || []);
  return signs.filter((sign) => sign < 0).length * 2 > signs.length;
}

/** @returns null for a cell that is empty or not a number */
export function tryReadNumber(
  text: string | null | undefined,
  decimal: DecimalSeparator,
): number | null {
  if (isEmptyAmount(text)) return null;
  const amount = attempt(() => readAmount(text ?? '', decimal));
  if (amount instanceof Error) return null;
  // A word may mark an overdraft: "1,200.00 DR".
  return amount.direction === 'expense' ? 0 - Math.abs(amount.signed) : amount.signed;
}

function attempt<Value>(work: () => Value): Value | Error {
  try {
    return work();
  } catch (error) {
    return error as Error;
  }
}
