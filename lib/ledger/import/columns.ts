// Which column of a file holds which field, by the headers that banks use or by the names that were given.
import { UserError } from '../../shared/user-error.ts';

/** In lower case, the most certain first. */
const KNOWN_HEADERS = {
  date: [
    ...['transaction_date', 'date', 'booking date', 'posting date', 'transaction date'],
    ...['datum', 'buchungstag', 'buchungsdatum', 'buchung', "date d'opération"],
  ],
  description: [
    ...['description', 'payee', 'merchant', 'name', 'details', 'text', 'memo'],
    ...['verwendungszweck', 'buchungstext', 'narrative', 'libellé', 'transaction description'],
  ],
  amount: ['amount', 'value', 'sum', 'betrag', 'umsatz', 'umsatz in eur', 'montant'],
  debit: [
    ...['debit', 'debit amount', 'debits', 'withdrawal', 'withdrawals', 'withdrawal amount'],
    ...['money out', 'paid out', 'soll', 'belastung', 'lastschrift', 'ausgang', 'débit'],
  ],
  credit: [
    ...['credit', 'credit amount', 'credits', 'deposit', 'deposits', 'deposit amount'],
    ...['money in', 'paid in', 'haben', 'gutschrift', 'eingang', 'crédit'],
  ],
  type: ['type'],
  category: ['category_name', 'category', 'kategorie'],
  notes: ['notes', 'note', 'comment'],
  externalId: ['external_id', 'transaction id', 'reference'],
} as const;
export type Field = keyof typeof KNOWN_HEADERS;
const FIELDS = Object.keys(KNOWN_HEADERS) as Field[];

/** In place of a column's name: the file has no column of this field. */
const NONE = 'none';

/** Indexes by field. */
export type Columns = Readonly<Partial<Record<Field, number>>>;
export type ChosenColumns = Readonly<Partial<Record<Field, string | undefined>>>;

export interface FoundColumns {
  readonly columns: Columns;
  /** What is wrong with the headers; none where they name every column that is needed. */
  readonly problems: readonly string[];
}

export function optionOf(field: Field): string {
  return field === 'externalId' ? '--id' : `--${field}`;
}

/** @param chosen headers of columns that have another name */
export function findColumns(headers: readonly string[], chosen: ChosenColumns): FoundColumns {
  const names = headers.map((header) => header.trim());
  const found = (field: Field) => {
    const name = chosen[field]?.trim();
    return name === undefined ? findKnown(names, field) : names.indexOf(name);
  };
  const isChosen = chosen.debit !== undefined || chosen.credit !== undefined;
  const isSplit = isChosen || (found('amount') < 0 && found('debit') >= 0 && found('credit') >= 0);
  const needed: readonly Field[] = isSplit
    ? ['date', 'description', 'debit', 'credit']
    : ['date', 'description', 'amount'];
  const unused: readonly Field[] = isSplit ? ['amount'] : ['debit', 'credit'];
  const columns: Partial<Record<Field, number>> = {};
  const problems: string[] = [];
  for (const field of FIELDS.filter((each) => !unused.includes(each))) {
    const name = chosen[field];
    // In two columns, the column tells what is an expense.
    if (field === 'type' && isSplit && name === undefined) continue;
    const index = found(field);
    if (index >= 0) columns[field] = index;
    else if (needed.includes(field) || (name ?? NONE) !== NONE)
      problems.push(missing(name === undefined ? `for the ${field}` : `"${name}"`, field));
  }
  return { columns, problems };
}

/** @throws UserError where the name of a used column is not unique */
export function requireUniqueHeaders(headers: readonly string[], columns: Columns): void {
  for (const index of Object.values(columns))
    if (headers.filter((header) => header === headers[index]).length > 1)
      throw new UserError(`Two columns are named "${headers[index]}". Rename one in the file.`);
}

function missing(what: string, field: Field): string {
  const also = field === 'amount' ? ', or --debit COLUMN --credit COLUMN' : '';
  return `No column ${what}. Name it with ${optionOf(field)} COLUMN${also}.`;
}

/** Also with a unit in brackets, such as "Betrag (EUR)", where there is one. */
function findKnown(names: readonly string[], field: Field): number {
  const found = (spellings: readonly string[]) => {
    for (const known of KNOWN_HEADERS[field]) {
      const index = spellings.indexOf(known);
      if (index >= 0 && (spellings === exact || index === spellings.lastIndexOf(known)))
        return index;
    }
    return -1;
  };
  const exact = names.map((name) => name.toLowerCase());
  const index = found(exact);
  return index >= 0 ? index : found(exact.map((name) => name.replace(/\s*[([][^)\]]*[)\]]$/, '')));
}
