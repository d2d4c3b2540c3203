// Turns the entries of a statement into rows with an identity, so that none is imported twice and none is lost.

import { type CheckOptions, checkEntries, describeEntry } from './check-entries.ts';
import {
  type Entry,
  type LeftOutLine,
  type ParsedEntries,
  pluralize,
  type Question,
  type RefusedLine,
  toDescriptionAndNotes,
} from './entry.ts';
import { createLegacyIds, createRowIds, identifyByBankId } from './row-ids.ts';
import { requireValid, type StatementRow } from './transaction-row.ts';

export interface RowOptions extends CheckOptions {
  /** A name for the account: equal rows of two accounts are two transactions. */
  readonly account: string | undefined;
  /** The encoding in which the file was read, chosen or guessed. */
  readonly encoding: string | undefined;
  /** True if the file has columns, which the user can choose. */
  readonly hasColumns: boolean;
}

export interface StatementRows {
  readonly rows: readonly StatementRow[];
  /** Rows that cannot be read. */
  readonly refused: readonly RefusedLine[];
  /** Rows that are not entries of this account, or repeat one. */
  readonly leftOut: readonly LeftOutLine[];
  /** Notes for the user about how the file was read. */
  readonly findings: readonly string[];
  /** Questions that the user must answer before anything is imported. */
  readonly questions: readonly Question[];
}

/** Turns entries of any format into rows, one for each transaction. */
export function makeRows(
  parsed: ParsedEntries,
  { account, encoding, hasColumns, ...options }: RowOptions,
): StatementRows {
  const { entries, leftOut, findings, questions, ...checkedEntries } = checkEntries(
    parsed,
    options,
  );
  const { unique, repeatedLines, refused, reusedIdCount } = compareIds(entries, account);
  const toRow = createRowBuilder(account, encoding);
  const rows: StatementRow[] = [];
  for (const { entry, identity } of unique) {
    try {
      const row = toRow(entry, identity);
      requireValid(row);
      rows.push(row);
    } catch (error) {
      refused.push({ line: entry.line, message: (error as Error).message });
    }
  }
  return {
    ...{ rows, questions },
    leftOut: [...leftOut, ...repeatedLines].toSorted(compareByLine),
    refused: [...checkedEntries.refused, ...refused].toSorted(compareByLine),
    findings: [
      ...findings,
      ...describeIds(reusedIdCount),
      ...describeRounded(entries),
      ...describeMissingTexts(rows, hasColumns),
    ],
  };
}

function compareByLine(a: { readonly line: number }, b: { readonly line: number }): number {
  return a.line - b.line;
}

interface IdentifiedEntry {
  readonly entry: Entry;
  /** Identity by the bank's id; null without one. */
  readonly identity: string | null;
}

interface ComparedIds {
  readonly unique: readonly IdentifiedEntry[];
  /** Rows that equal an earlier one, including its id: they are one transaction. */
  readonly repeatedLines: readonly LeftOutLine[];
  readonly refused: RefusedLine[];
  /** Number of rows that have the id of an earlier row, but another date or amount. */
  readonly reusedIdCount: number;
}

function compareIds(entries: readonly Entry[], account: string | undefined): ComparedIds {
  const identifiedEntries = entries.map((entry) => ({
    entry,
    identity: identifyByBankId(entry, account),
  }));
  const sharedIdentities = findSharedIdentities(identifiedEntries);
  const entryByIdentity = new Map<string, Entry>();
  const seenBankIds = new Set<string>();
  const unique: IdentifiedEntry[] = [];
  const repeatedLines: LeftOutLine[] = [];
  const refused: RefusedLine[] = [];
  let reusedIdCount = 0;
  for (const each of identifiedEntries) {
    const { entry, identity } = each;
    const sharingEntries = identity === null ? undefined : sharedIdentities.get(identity);
    const earlierEntry = identity === null ? undefined : entryByIdentity.get(identity);
    if (sharingEntries)
      refused.push({ line: entry.line, message: describeShared(sharingEntries, entry) });
    else if (earlierEntry) repeatedLines.push(describeRepeated(entry, earlierEntry));
    else {
      if (entry.bankId !== null && seenBankIds.has(entry.bankId)) reusedIdCount += 1;
      if (entry.bankId !== null) seenBankIds.add(entry.bankId);
      if (identity !== null) entryByIdentity.set(identity, entry);
      unique.push(each);
    }
  }
  return { unique, repeatedLines, refused, reusedIdCount };
}

/** Finds rows with the same identity but different content, one of which would be lost. */
function findSharedIdentities(
  identifiedEntries: readonly IdentifiedEntry[],
): ReadonlyMap<string | null, readonly IdentifiedEntry[]> {
  const isShared = ([identity, [first, ...others]]: [string | null, IdentifiedEntry[]]) => {
    if (identity === null) return false;
    const content = first?.entry.cells.join('\n');
    return others.some(({ entry }) => entry.cells.join('\n') !== content);
  };
  return new Map([...Map.groupBy(identifiedEntries, ({ identity }) => identity)].filter(isShared));
}

function describeShared(sharingEntries: readonly IdentifiedEntry[], entry: Entry): string {
  const otherRow = sharingEntries.find((each) => each.entry !== entry);
  return `line ${otherRow?.entry.line} has the same id "${entry.bankId}", date and amount, but different content. Name a column of unique ids with --id, or --id none`;
}

function describeRepeated({ line, bankId, ...entry }: Entry, earlierEntry: Entry): LeftOutLine {
  return {
    line,
    reason: 'equal to an earlier row with the same id',
    text: `line ${earlierEntry.line} again, with the id "${bankId}": ${describeEntry(entry)}`,
  };
}

function describeIds(reusedIdCount: number): readonly string[] {
  if (reusedIdCount === 0) return [];
  return [
    `${pluralize(reusedIdCount, 'row')} with the id of an earlier row, but another date or amount: read as separate transactions`,
  ];
}

function describeRounded(entries: readonly Entry[]): readonly string[] {
  const [first, ...others] = entries.flatMap(({ roundedId }) => roundedId ?? []);
  if (first === undefined) return [];
  return [
    `${pluralize(others.length + 1, 'row')} with an id that a spreadsheet has rounded, such as "${first}": read without the id`,
  ];
}

function describeMissingTexts(
  rows: readonly StatementRow[],
  hasColumns: boolean,
): readonly string[] {
  const undescribedCount = rows.filter(({ description }) => description === NO_DESCRIPTION).length;
  if (undescribedCount === 0) return [];
  const advice = hasColumns ? '; name text columns with --description COLUMN,COLUMN' : '';
  return [`${pluralize(undescribedCount, 'row')} without text: "${NO_DESCRIPTION}"${advice}`];
}

const NO_DESCRIPTION = '(no description)';

function createRowBuilder(account: string | undefined, encoding: string | undefined) {
  const createIds = createRowIds(account, encoding);
  const createLegacy = createLegacyIds(account);
  const listRoundedIds = createRoundedIds(account);
  return (entry: Entry, identity: string | null): StatementRow => {
    const { line, date, signed, category, legacy, bankId } = entry;
    const type = signed < 0 ? 'expense' : 'income';
    const amount = Math.abs(signed);
    const { description = entry.notes ?? entry.entryType ?? NO_DESCRIPTION, notes } =
      toDescriptionAndNotes(entry.texts, entry.notes);
    const legacyBankId = legacy?.bankId ?? null;
    const hasBalance = entry.balance !== null;
    if (identity !== null)
      return {
        ...{ line, date, type, amount, description, notes, category, bankId, legacyBankId },
        hasBalance,
        exported: null,
        externalId: identity,
        idWithAccount: (otherAccount) => identifyByBankId(entry, otherAccount),
      };
    const { externalId, otherIds, idWithAccount } = createIds(entry);
    const legacyFields = legacy ?? { description, notes, category };
    const legacyIds = createLegacy({ ...legacyFields, date, type, amount });
    const roundedIds = listRoundedIds(entry);
    return {
      ...{ line, date, type, amount, description, notes, category, bankId, legacyBankId },
      hasBalance,
      exported: null,
      ...{ externalId, idWithAccount },
      otherIds: () => [...legacyIds(), ...otherIds(), ...roundedIds],
    };
  };
}

/**
 * Computes the identities that an earlier release gave to rows with rounded ids. It imported only the first of equal rows, so
 * only that one has such an identity.
 */
function createRoundedIds(account: string | undefined): (entry: Entry) => readonly string[] {
  const usedIds = new Set<string>();
  return (entry) => {
    const { roundedId } = entry;
    if (roundedId == null) return NO_IDS;
    const id = identifyByBankId({ ...entry, bankId: roundedId }, account);
    if (id === null || usedIds.has(id)) return NO_IDS;
    usedIds.add(id);
    return [id];
  };
}

const NO_IDS: readonly string[] = [];
