// Finds the columns that the user names in options such as --amount, by header or by number.
import { UserError } from '../../shared/user-error.ts';
import type { Field } from './column-names.ts';

/** Fields whose column an option can name. */
export type ChosenField = Exclude<
  Field,
  'balance' | 'reference' | 'bookingType' | 'payer' | 'receivedAmount' | 'receivedCurrency'
>;
export type ChosenColumns = Readonly<Partial<Record<ChosenField, string | undefined>>>;

/** Value of an option if the file has no column for the field. */
export const NO_COLUMN = 'none';

export function optionName(field: Field): string {
  if (field === 'externalId') return '--id';
  return field === 'status' ? '--status-column' : `--${field}`;
}

/** Finds a column by its header, in any letter case, or by its number from 1. Commas separate several columns. */
export function findChosen(
  headers: readonly string[],
  name: string,
  field: Field,
): readonly number[] {
  const find = (text: string) => {
    const wanted = text.trim();
    const exact = headers.flatMap((header, index) => (header.trim() === wanted ? [index] : []));
    if (exact.length > 1)
      throw new UserError(
        `Two columns are named "${wanted}". Name one by its number: ${optionName(field)} ${(exact[0] ?? 0) + 1} or ${(exact[1] ?? 0) + 1}.`,
      );
    if (exact.length === 1) return exact;
    const lower = wanted.toLowerCase();
    const anyCase = headers.findIndex((header) => header.trim().toLowerCase() === lower);
    if (anyCase >= 0) return [anyCase];
    const number = /^\d{1,3}$/.test(wanted) ? Number(wanted) : 0;
    return number >= 1 && number <= headers.length ? [number - 1] : [];
  };
  const whole = find(name);
  if (whole.length > 0 || !name.includes(',')) return whole;
  const parts = name.split(',').map(find);
  return parts.every((part) => part.length > 0) ? parts.flat() : [];
}

export function isChosenByNumber(name: string | undefined): boolean {
  return name !== undefined && /^\d{1,3}(?:\s*,\s*\d{1,3})*$/.test(name.trim());
}

export function describeMissing(what: string, field: Field): string {
  const alternative = field === 'amount' ? ', or --debit COLUMN --credit COLUMN' : '';
  return `No column ${what}. Name it with ${optionName(field)} COLUMN${alternative}.`;
}
