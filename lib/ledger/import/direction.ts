// Which rows are income and which are expenses: by the sign of the amount, by a word beside it, or by the words of a column.
// Where a word and a sign both say it, they must agree.
import { UserError } from '../../shared/user-error.ts';
import { TRANSACTION_TYPES, type TransactionType } from '../domain/transaction.ts';
import type { ReadAmount } from './amounts.ts';
import { type Direction, directionOfWord } from './direction-words.ts';
import { derivePerText } from './distinct-texts.ts';

export interface TypeWords {
  readonly income: readonly string[];
  readonly expense: readonly string[];
}

export interface DirectedAmount {
  /** Negative for an expense. */
  readonly signed: number;
  readonly isStated: boolean;
  /** The word says that the row is neither. */
  readonly isNeutral?: boolean;
}

/** A row whose amount can be read. */
export interface Reading {
  readonly amount: ReadAmount;
  /** The cell of the column of directions. */
  readonly word: string | null;
}

export interface DirectionReader {
  /** True if the words of the column decide. */
  readonly usesColumn: boolean;
  /** @throws Error where the word is not known, or contradicts the sign */
  readonly read: (amount: ReadAmount, word: string | null) => DirectedAmount;
}

/** How signs and words go together in a file: no signs, a minus for expenses, or a minus for income as on cards. */
type Convention = 'unsigned' | 'signed' | 'reversed';

/** @throws UserError where words are given and no column has them */
export function createDirectionReader(
  readings: readonly Reading[],
  given: Partial<TypeWords>,
  hasColumn: boolean,
): DirectionReader {
  const words = { income: given.income ?? [], expense: given.expense ?? [] };
  const isGiven = words.income.length + words.expense.length > 0;
  if (isGiven && !hasColumn)
    throw new UserError('Name the column of --income and --expense with --type.');
  const lookUp = derivePerText((word) =>
    isGiven ? givenDirection(word, words) : directionOfWord(word),
  );
  const statedDirection = ({ amount, word }: Reading): Direction | undefined =>
    amount.direction ?? (word === null ? undefined : lookUp(word));
  const stated: StatedSign[] = [];
  let hasOtherNegatives = false;
  for (const reading of readings) {
    const { signed } = reading.amount;
    const direction = statedDirection(reading);
    if (direction === undefined) hasOtherNegatives ||= signed < 0;
    else if (signed !== 0 && direction !== 'neutral')
      stated.push({ direction, isNegative: signed < 0 });
  }
  const convention = findConvention(stated, hasOtherNegatives);
  const [only, ...others] = new Set(stated.map(({ direction }) => direction));
  // Cards write CR beside a payment, and nothing beside a purchase.
  const unmarked =
    hasColumn || others.length > 0 ? undefined : only === 'income' ? 'expense' : 'income';
  const hasWords = stated.length > 0 || isGiven;
  return {
    usesColumn: hasColumn && hasWords,
    read: (amount, word) => {
      const direction = statedDirection({ amount, word });
      if (direction === 'neutral' && convention === 'unsigned' && hasWords)
        return { signed: 0, isStated: true, isNeutral: true };
      if (direction === 'income' || direction === 'expense')
        return readStated(amount, direction, convention);
      if (isGiven) throw unknownWord(word ?? '', words);
      if (hasWords && convention === 'unsigned') {
        if (unmarked === undefined) throw unknownWord(word ?? '', words);
        return readStated(amount, unmarked, convention);
      }
      const signed = convention === 'reversed' ? 0 - amount.signed : amount.signed;
      return { signed, isStated: false };
    },
  };
}

interface StatedSign {
  readonly direction: TransactionType;
  readonly isNegative: boolean;
}

/**
 * The one that the fewest rows contradict.
 * @param hasOtherNegatives rows without a known word have signs
 */
function findConvention(stated: readonly StatedSign[], hasOtherNegatives: boolean): Convention {
  const negative = stated.filter(({ isNegative }) => isNegative).length;
  const directions = new Set(stated.map(({ direction }) => direction));
  if (stated.length === 0) return 'signed';
  if (negative === 0 && (!hasOtherNegatives || directions.size > 1)) return 'unsigned';
  if (negative === 0) return directions.has('expense') ? 'reversed' : 'signed';
  const agreeing = stated.filter(
    ({ direction, isNegative }) => (direction === 'expense') === isNegative,
  ).length;
  const counts = [
    { convention: 'signed', misfits: stated.length - agreeing },
    { convention: 'reversed', misfits: agreeing },
    { convention: 'unsigned', misfits: negative },
  ] as const;
  return counts.reduce((one, other) => (other.misfits < one.misfits ? other : one)).convention;
}

function readStated(
  amount: ReadAmount,
  direction: TransactionType,
  convention: Convention,
): DirectedAmount {
  const { signed } = amount;
  const isExpected =
    signed === 0 ||
    (convention === 'unsigned'
      ? signed > 0
      : signed < 0 === ((direction === 'expense') === (convention === 'signed')));
  if (!isExpected)
    throw new Error(
      `the amount ${signed} and the word for ${direction} disagree. Correct one in the file, or go by the signs alone with --type none`,
    );
  const size = Math.abs(signed);
  // Not -0.
  return { signed: direction === 'expense' ? 0 - size : size, isStated: true };
}

function givenDirection(word: string, words: TypeWords): TransactionType | undefined {
  const isSame = (one: string) => one.trim().toLowerCase() === word.trim().toLowerCase();
  return TRANSACTION_TYPES.find((type) => words[type].some(isSame));
}

function unknownWord(word: string, words: TypeWords): Error {
  const names = TRANSACTION_TYPES.map((type) =>
    words[type].length === 0 ? type : `${type} (${words[type].join(', ')})`,
  );
  return new Error(
    `"${word}" is neither ${names.join(' nor ')}. Say which with --income "${word}" or --expense "${word}"`,
  );
}
