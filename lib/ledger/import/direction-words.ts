// The words and signs that files use for income, for expenses, and for amounts that are neither.
import { splitList } from './word-list.ts';

export type Direction = 'income' | 'expense' | 'neutral';

const INCOME = splitList(`
  income, cr, credit, c, in, +, deposit, inflow, haben, h, gutschrift, eingang, bij, k, kredit, kreedit, crédit,
  crédito, credito, entrada, entrate, abono, ingreso, uznanie, uznania, wpływ, wpływy, příchozí, příjem, prijem,
  jóváírás, j, alacak, gelir, приход, доход, зачисление, пополнение, 收入, 入金, 預入, 입금, inn, einnahme, money in,
  credited, inkomst, incoming, received, recette, ganho, receita, revenus, crdt, inc, incomes, deposits, credits,
  insättning, pano, innborgun, ma, avere, π, πίστωση, dobro, кредит, بستانکار, 存入, 存款, příchozí platba,
  credit entry
`);
const EXPENSE = splitList(`
  expense, dr, debit, d, out, -, −, withdrawal, outflow, soll, s, belastung, ausgang, af, debet, deebet, débit,
  débito, debito, saída, uscite, uscita, cargo, gasto, obciążenie, obciążenia, wydatek, odchozí, výdaj, vydaj,
  terhelés, t, borç, gider, расход, списание, 支出, 出金, 引出, 출금, ut, ausgabe, lastschrift, money out, debited,
  utgift, outgoing, sent, dépense, despesa, dépenses, purchase, dbit, exp, expenses, withdrawals, debits, uttag, db,
  otto, úttekt, wn, winien, dare, χ, χρέωση, breme, исплата, дебет, بدهکار, 提款, 提出, odchozí platba, debit entry
`);
const NEUTRAL = splitList('neutral, 不计收支, /, internal transfer, transfer');

const normalize = (word: string) => word.normalize('NFKC').trim().toLowerCase().replace(/\.$/, '');

const WORDS = new Map<string, Direction>([
  ...NEUTRAL.map((word) => [normalize(word), 'neutral'] as const),
  ...INCOME.map((word) => [normalize(word), 'income'] as const),
  ...EXPENSE.map((word) => [normalize(word), 'expense'] as const),
]);
const MAX_WORD_LENGTH = 40;

/** Pairs of letters for income and expenses, each from one language. */
const LETTER_PAIRS = ['cd', 'hs', 'kd', 'jt', 'πχ'];

/**
 * True if the single letters of a column are one language's pair, or the column has none. Other letters, or letters among whole
 * words, are codes of another kind: C for a card, T for a transfer.
 */
export function areDirectionLetters(cells: readonly string[]): boolean {
  const words = new Set(cells.map(normalize));
  const letters = [...words].filter((word) => /^\p{L}$/u.test(word));
  if (letters.length === 0) return true;
  const isPair = LETTER_PAIRS.some((pair) => letters.every((letter) => pair.includes(letter)));
  return isPair && letters.length === words.size;
}

export function findDirection(word: string): Direction | undefined {
  return word.length > MAX_WORD_LENGTH ? undefined : WORDS.get(normalize(word));
}
