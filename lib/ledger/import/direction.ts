// Which rows are income and which are expenses: by the sign of the amount, or by the words of a column.

import { UserError } from '../../shared/user-error.ts';
import { TRANSACTION_TYPES, type TransactionType } from '../domain/transaction.ts';

export interface TypeWords {
  readonly income: readonly string[];
  readonly expense: readonly string[];
}

export interface TypedAmount {
  readonly type: TransactionType;
  readonly amount: number;
}

export interface Typing {
  /** Whether the cells of the column decide. */
  readonly usesColumn: boolean;
  /** @throws Error where the cell is no word that is known */
  readonly read: (cell: string | null, signed: number) => TypedAmount;
}

interface Reading {
  readonly cell: string | null;
  /** Undefined where it cannot be read. */
  readonly signed?: number | undefined;
}

const OWN_WORDS: TypeWords = { income: ['income'], expense: ['expense'] };
const MOST_SHOWN = 5;

/**
 * The words that are given, or "income" and "expense" where the column has them. Other words say nothing: then the sign does.
 * @throws UserError where neither words nor signs tell
 */
export function typingOf(
  readings: readonly Reading[],
  given: Partial<TypeWords>,
  hasColumn: boolean,
): Typing {
  const { income = [], expense = [] } = given;
  if (income.length + expense.length > 0) {
    if (!hasColumn) throw new UserError('Name the column of --income and --expense with --type.');
    return byGivenWords(readings, { income, expense });
  }
  const words = [...new Set(readings.flatMap(({ cell }) => cell ?? []))];
  if (words.some((word) => wordType(word, OWN_WORDS))) return byOwnWords;
  const hasExpenses = readings.some(({ signed = 0 }) => signed < 0);
  if (words.length < 2 || hasExpenses) return bySign;
  const shown = words.slice(0, MOST_SHOWN).join(', ');
  throw new UserError(
    `No amount is negative, and the words of the type column are not known: ${shown}. Say what they are with --income WORD --expense WORD, or use --invert, or --type none where all rows are income.`,
  );
}

const bySign: Typing = {
  usesColumn: false,
  read: (_, signed) => ({ type: signed < 0 ? 'expense' : 'income', amount: Math.abs(signed) }),
};

/** The amount keeps its sign. */
const byOwnWords: Typing = {
  usesColumn: true,
  read: (cell, signed) =>
    cell === null ? bySign.read(cell, signed) : { type: typeOf(cell, OWN_WORDS), amount: signed },
};

/** A file in which expenses are negative tells each of them twice. */
function byGivenWords(readings: readonly Reading[], words: TypeWords): Typing {
  const expenses = readings.flatMap(({ cell, signed = 0 }) =>
    cell !== null && wordType(cell, words) === 'expense' ? signed : [],
  );
  const isSigned =
    expenses.filter((signed) => signed < 0).length > expenses.filter((signed) => signed > 0).length;
  return {
    usesColumn: true,
    read: (cell, signed) => {
      const type = typeOf(cell ?? '', words);
      // Not -0.
      return { type, amount: isSigned && type === 'expense' ? 0 - signed : signed };
    },
  };
}

function typeOf(cell: string, words: TypeWords): TransactionType {
  const type = wordType(cell, words);
  if (type) return type;
  const names = TRANSACTION_TYPES.map((each) =>
    words[each].join() === each ? each : `${each} (${words[each].join(', ')})`,
  );
  throw new Error(`"${cell}" is neither ${names.join(' nor ')}`);
}

function wordType(cell: string, words: TypeWords): TransactionType | undefined {
  const isSame = (word: string) => word.trim().toLowerCase() === cell.trim().toLowerCase();
  return TRANSACTION_TYPES.find((type) => words[type].some(isSame));
}
