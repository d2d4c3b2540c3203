// Decides which rows are income and which are expenses: by the sign of the amount, by a word beside it, or by a word in a
// separate column. If a word and a sign both state the direction, they must agree.
import { UserError } from '../../shared/user-error.ts';
import { TRANSACTION_TYPES, type TransactionType } from '../domain/transaction.ts';
import type { ParsedAmount } from './amounts.ts';
import { type Direction, findDirection } from './direction-words.ts';
import { memoizeByText } from './distinct-texts.ts';

export interface TypeWords {
  readonly income: readonly string[];
  readonly expense: readonly string[];
}

export interface DirectedAmount {
  /** Negative for an expense. */
  readonly signed: number;
  readonly isStated: boolean;
  /** True if the word says that the row is neither income nor expense. */
  readonly isNeutral?: boolean;
}

/** A row whose amount can be read. */
export interface AmountReading {
  readonly amount: ParsedAmount;
  /** Cell of the direction column. */
  readonly word: string | null;
}

export interface DirectionReader {
  /** True if the words of the direction column decide. */
  readonly usesColumn: boolean;
  /** @throws Error if the word is not known, or contradicts the sign */
  readonly read: (amount: ParsedAmount, word: string | null) => DirectedAmount;
}

/** How signs and words combine in a file: no signs, a minus for expenses, or a minus for income as on cards. */
type Convention = 'unsigned' | 'signed' | 'reversed';

/** @throws UserError if the user gives words, but not the column that contains them */
export function createDirectionReader(
  readings: readonly AmountReading[],
  givenWords: Partial<TypeWords>,
  hasColumn: boolean,
): DirectionReader {
  const words = { income: givenWords.income ?? [], expense: givenWords.expense ?? [] };
  const hasGivenWords = words.income.length + words.expense.length > 0;
  if (hasGivenWords && !hasColumn)
    throw new UserError('Name the column of --income and --expense with --type.');
  const findWordDirection = memoizeByText((word) =>
    hasGivenWords ? findChosenDirection(word, words) : findDirection(word),
  );
  const readWord = (word: string | null) => (word === null ? undefined : findWordDirection(word));
  const markPattern = findSignPattern(readings, ({ amount }) => amount.direction ?? undefined);
  const unmarkedReadings = readings.filter(({ amount }) => amount.direction === null);
  const columnPattern = findSignPattern(unmarkedReadings, ({ word }) => readWord(word));
  // If the column has unknown words, an empty cell states no direction.
  const hasUnknownWords = readings.some(
    ({ word }) => word !== null && readWord(word) === undefined,
  );
  const usesColumn = hasColumn && (columnPattern.hasWords || hasGivenWords);
  const readUnmarked = createUnmarkedReader({
    marks: markPattern,
    column: columnPattern,
    usesColumn,
    hasUnknownWords,
  });
  return {
    usesColumn,
    read: (amount, word) => {
      const { convention } = amount.direction === null ? columnPattern : markPattern;
      const direction = amount.direction ?? readWord(word);
      if (direction === 'neutral' && convention === 'unsigned')
        return { signed: 0, isStated: true, isNeutral: true };
      if (direction === 'income' || direction === 'expense')
        return readStated(amount, { direction, convention });
      if (word !== null && (hasGivenWords || (usesColumn && convention === 'unsigned')))
        throw createUnknownWordError(word, words);
      return readUnmarked(amount);
    },
  };
}

interface SignPattern {
  readonly convention: Convention;
  readonly hasWords: boolean;
  /** The direction of the words, if all of them state the same one. */
  readonly onlyDirection: TransactionType | undefined;
  /** True if a number without a word has a minus. */
  readonly hasOtherNegatives: boolean;
}

/** Finds how words and signs combine. Words next to numbers and words in a column may follow different conventions. */
function findSignPattern(
  readings: readonly AmountReading[],
  readDirection: (reading: AmountReading) => Direction | undefined,
): SignPattern {
  const statedSigns: StatedSign[] = [];
  let hasOtherNegatives = false;
  for (const reading of readings) {
    const { signed } = reading.amount;
    const direction = readDirection(reading);
    if (direction === undefined) hasOtherNegatives ||= signed < 0;
    else if (signed !== 0 && direction !== 'neutral')
      statedSigns.push({ direction, isNegative: signed < 0 });
  }
  const [onlyDirection, ...others] = new Set(statedSigns.map(({ direction }) => direction));
  return {
    convention: findConvention(statedSigns, hasOtherNegatives),
    hasWords: statedSigns.length > 0,
    onlyDirection: others.length > 0 ? undefined : onlyDirection,
    hasOtherNegatives,
  };
}

interface SignPatterns {
  /** Pattern of the words beside numbers, such as DR. */
  readonly marks: SignPattern;
  readonly column: SignPattern;
  readonly usesColumn: boolean;
  /** True if the column has words that are not known. */
  readonly hasUnknownWords: boolean;
}

/** Reads numbers without a word, in a file whose other numbers may have one. */
function createUnmarkedReader({ marks, column, usesColumn, hasUnknownWords }: SignPatterns) {
  const { onlyDirection, hasWords, hasOtherNegatives } = usesColumn ? column : marks;
  const areAmountsSigned = usesColumn
    ? column.convention !== 'unsigned'
    : !hasWords || hasOtherNegatives;
  return (amount: ParsedAmount): DirectedAmount => {
    const { signed } = amount;
    if (areAmountsSigned || signed === 0)
      return { signed: column.convention === 'reversed' ? 0 - signed : signed, isStated: false };
    if (
      onlyDirection === undefined ||
      (usesColumn && (hasUnknownWords || onlyDirection !== 'income'))
    )
      throw new Error(
        `the amount ${signed} has neither a sign nor a word such as DR or CR, as others have. Write one beside it in the file`,
      );
    // Card issuers write CR beside a payment, and nothing beside a purchase.
    const direction = onlyDirection === 'income' ? 'expense' : 'income';
    return { ...readStated(amount, { direction, convention: 'unsigned' }), isStated: false };
  };
}

interface StatedSign {
  readonly direction: TransactionType;
  readonly isNegative: boolean;
}

/**
 * Finds the convention that the fewest rows contradict.
 * @param hasOtherNegatives true if a row without a known word has a minus
 */
function findConvention(
  statedSigns: readonly StatedSign[],
  hasOtherNegatives: boolean,
): Convention {
  const negativeCount = statedSigns.filter(({ isNegative }) => isNegative).length;
  const directions = new Set(statedSigns.map(({ direction }) => direction));
  if (statedSigns.length === 0) return 'signed';
  if (negativeCount === 0 && (!hasOtherNegatives || directions.size > 1)) return 'unsigned';
  if (negativeCount === 0) return directions.has('expense') ? 'reversed' : 'signed';
  const agreeingCount = statedSigns.filter(
    ({ direction, isNegative }) => (direction === 'expense') === isNegative,
  ).length;
  const counts = [
    { convention: 'signed', misfits: statedSigns.length - agreeingCount },
    { convention: 'reversed', misfits: agreeingCount },
    { convention: 'unsigned', misfits: negativeCount },
  ] as const;
  return counts.reduce((a, b) => (b.misfits < a.misfits ? b : a)).convention;
}

interface StatedDirection {
  readonly direction: TransactionType;
  readonly convention: Convention;
}

function readStated(
  { signed, direction: mark }: ParsedAmount,
  { direction, convention }: StatedDirection,
): DirectedAmount {
  const isSignExpected =
    signed === 0 ||
    (convention === 'unsigned'
      ? signed > 0
      : signed < 0 === ((direction === 'expense') === (convention === 'signed')));
  if (!isSignExpected) {
    const alternative = mark === null ? ', or use the signs alone with --type none' : '';
    throw new Error(
      `the amount ${signed} and the word for ${direction} disagree. Correct one in the file${alternative}`,
    );
  }
  const size = Math.abs(signed);
  // Subtracting from 0 never gives -0.
  return { signed: direction === 'expense' ? 0 - size : size, isStated: true };
}

function findChosenDirection(word: string, words: TypeWords): TransactionType | undefined {
  const isSame = (each: string) => each.trim().toLowerCase() === word.trim().toLowerCase();
  return TRANSACTION_TYPES.find((type) => words[type].some(isSame));
}

function createUnknownWordError(word: string, words: TypeWords): Error {
  const names = TRANSACTION_TYPES.map((type) =>
    words[type].length === 0 ? type : `${type} (${words[type].join(', ')})`,
  );
  return new Error(
    `"${word}" is neither ${names.join(' nor ')}. Say which with --income "${word}" or --expense "${word}"`,
  );
}
