// Finds the columns that the user names in options such as --amount, by header or by number.
import { UserError } from '../../shared/user-error.ts';
import type { Field } from './column-names.ts';

/** Fields whose column an option can name. */
export type ChosenField = Exclude<
  Field,
  'balance' | 'reference' | 'entryType' | 'payer' | 'receivedAmount' | 'receivedCurrency'
>;
export type ChosenColumns = Readonly<Partial<Record<ChosenField, string | undefined>>>;

/** Value of an option if the file has no column for the field. */
export const NO_COLUMN = 'none';

export function getOptionName(field: Field): string {
  if (field === 'externalId') return '--id';
  return field === 'status' ? '--status-column' : `--${field}`;
}

/** Finds a column by its header, in any letter case, or by its number from 1. Commas separate several columns. */
export function findChosenColumns(
  headers: readonly string[],
  name: string,
  field: Field,
): readonly number[] {
  const find = (text: string) => {
    const wantedName = text.trim();
    const exactMatches = headers.flatMap((header, index) =>
      header.trim() === wantedName ? [index] : [],
    );
    if (exactMatches.length > 1)
      throw new UserError(
        `Two columns are named "${wantedName}". Name one by its number: ${getOptionName(field)} ${(exactMatches[0] ?? 0) + 1} or ${(exactMatches[1] ?? 0) + 1}.`,
      );
    if (exactMatches.length === 1) return exactMatches;
    const lowerCaseName = wantedName.toLowerCase();
    const caseInsensitiveMatch = headers.findIndex(
      (header) => header.trim().toLowerCase() === lowerCaseName,
    );
    if (caseInsensitiveMatch >= 0) return [caseInsensitiveMatch];
    const number = /^\d{1,3}$/.test(wantedName) ? Number(wantedName) : 0;
    return number >= 1 && number <= headers.length ? [number - 1] : [];
  };
  const columns = find(name);
  if (columns.length > 0 || !name.includes(',')) return columns;
  const columnsByName = name.split(',').map(find);
  return columnsByName.every((part) => part.length > 0) ? columnsByName.flat() : [];
}

export function isChosenByNumber(name: string | undefined): boolean {
  return name !== undefined && /^\d{1,3}(?:\s*,\s*\d{1,3})*$/.test(name.trim());
}

export function describeMissing(what: string, field: Field): string {
  const alternative = field === 'amount' ? ', or --debit COLUMN --credit COLUMN' : '';
  return `No column ${what}. Name it with ${getOptionName(field)} COLUMN${alternative}.`;
}
