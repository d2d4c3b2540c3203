// Reads OFX and QFX, statements that banks offer for accounting programs: version 1 is SGML, in which most values have no closing
// tag, version 2 is XML. Accounts and cards are read; investments and pending rows are left out and named.
import { UserError } from '../../shared/user-error.ts';
import {
  type Entry,
  type LeftOutLine,
  type ParsedEntries,
  pluralize,
  type RefusedLine,
} from './entry.ts';
import { toBankId } from './row-ids.ts';
import {
  createLineCounter,
  INVESTMENTS,
  numberSharedIds,
  readExactAmount,
  refuseInvestments,
  toEntry,
} from './stated-entries.ts';

type ParsedStatement = Pick<ParsedEntries, 'entries' | 'leftOut' | 'refused'>;

/** A tag of the file: a value has text, an aggregate has children. */
interface Element {
  readonly name: string;
  readonly line: number;
  readonly text: string;
  readonly children: Element[];
}

const CDATA_START = '<![CDATA[';
const CDATA_END = ']]>';
/** A tag with the text up to the next one. A `<` that begins no tag belongs to the text. */
const TAG = /<(\/?)([A-Za-z][\w.:-]*)[^<>]*>([^<]*(?:<(?![/A-Za-z?!])[^<]*)*)/g;
const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};
const MAX_CODE_POINT = 0x10ffff;

const STATEMENTS = ['STMTRS', 'CCSTMTRS'];
const INVESTMENT_STATEMENT = 'INVSTMTRS';
/** Aggregates within a transaction that reuse the names of its own values; they are not searched. */
const OTHER_PARTIES = ['BANKACCTTO', 'CCACCTTO', 'IMAGEDATA', 'EXTDPMT'];
/** Types of rows whose money leaves the account. They count only if a bank writes no signs at all. */
const OUTGOING = [
  ...['DEBIT', 'FEE', 'SRVCHG', 'ATM', 'POS', 'CHECK', 'PAYMENT', 'CASH'],
  ...['DIRECTDEBIT', 'REPEATPMT'],
];
/** Descriptions of rows that have no text, by type. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  ...{ INT: 'Interest', DIV: 'Dividend', FEE: 'Fee', SRVCHG: 'Service charge', DEP: 'Deposit' },
  ...{ ATM: 'Cash machine', POS: 'Card payment', XFER: 'Transfer', CHECK: 'Check', CASH: 'Cash' },
  ...{ PAYMENT: 'Payment', DIRECTDEP: 'Direct deposit', DIRECTDEBIT: 'Direct debit' },
  ...{ REPEATPMT: 'Standing order', CREDIT: 'Credit', DEBIT: 'Debit' },
};
/**
 * An amount with groups: the last one or two digits are decimals, and the groups of three before them have the other separator.
 */
const GROUPED = /^([-+]?\d{1,3}(?:([.,])\d{3})+)(?!\2)[.,](\d{1,2})$/;
const AMBIGUOUS = /^[-+]?\d{1,3}(?:[.,]\d{3})+$/;
/** No statement nests deeper, so the search for an opening tag stays short. */
const MAX_DEPTH = 60;

/** Reads the name of the encoding that the file's header declares; undefined if it declares none. */
export function findOfxCharset(head: string): string | undefined {
  const declaredCharset =
    /^\s*<\?xml[^>]*\sencoding=["']([\w-]+)["']/i.exec(head)?.[1] ??
    /^\s*CHARSET\s*:\s*([\w-]+)/im.exec(head)?.[1] ??
    '';
  if (/^\d{3,4}$/.test(declaredCharset)) return `windows-${declaredCharset}`;
  if (/^8859-\d+$/.test(declaredCharset)) return `iso-${declaredCharset}`;
  return declaredCharset === '' || /^none$/i.test(declaredCharset) ? undefined : declaredCharset;
}

export function readOfx(text: string): Omit<ParsedEntries, 'questions'> {
  const document = parseElements(text);
  const statements = findAll(document, STATEMENTS).map(readStatement);
  const investments = findAll(document, [INVESTMENT_STATEMENT]).map(({ line, children }) => {
    const rows = findAll(children, ['INVTRANLIST']).flatMap((list) => list.children);
    const count = rows.filter((row) => row.children.length > 0).length;
    return { line, reason: INVESTMENTS, text: pluralize(count, 'movement') };
  });
  const parsed = {
    entries: numberSharedIds(statements.flatMap(({ entries }) => entries)),
    leftOut: [...statements.flatMap(({ leftOut }) => leftOut), ...investments],
    refused: statements.flatMap(({ refused }) => refused),
    findings: /<\/OFX>/i.test(text) ? [] : ['the file has no </OFX> at its end: it may be cut off'],
  };
  refuseInvestments(parsed);
  return parsed;
}

function readStatement(statement: Element): ParsedStatement {
  const rows = findAll(statement.children, ['STMTTRN']);
  const { currentRows, replacedLines } = applyCorrections(rows);
  const pendingLines = findAll(statement.children, ['STMTTRNP']).map((row) =>
    toLeftOutLine(row, 'pending'),
  );
  const context = {
    sign: decideSigns(rows),
    account: nameAccount(statement),
    currency: findValue(statement, 'CURDEF') || null,
  };
  const entries: Entry[] = [];
  const refused: RefusedLine[] = [];
  for (const row of currentRows) {
    try {
      entries.push(readRow(row, context));
    } catch (error) {
      refused.push({ line: row.line, message: (error as Error).message });
    }
  }
  return { entries, leftOut: [...replacedLines, ...pendingLines], refused };
}

interface StatementContext {
  readonly sign: Sign;
  readonly account: string | null;
  readonly currency: string | null;
}

function readRow(row: Element, { sign, account, currency }: StatementContext): Entry {
  const readValue = (name: string) => findValue(row, name);
  const type = readType(row);
  const checkNumber = readValue('CHECKNUM').replace(/^0+$/, '');
  // The amount is in CURRENCY, if the row has one. ORIGCURRENCY, the currency before the bank's conversion, does not matter.
  const [rowCurrency] = findAll(row.children, ['CURRENCY']).map((each) =>
    findValue(each, 'CURSYM'),
  );
  return toEntry({
    ...{ line: row.line, account, currency: rowCurrency || currency },
    date: readOfxDate(readValue('DTPOSTED')),
    signed: sign(readAmount(readValue('TRNAMT')), type),
    // A NAME within a PAYEE is found as well.
    texts: [
      readValue('NAME'),
      readValue('EXTDNAME'),
      readValue('MEMO'),
      checkNumber && `Check ${checkNumber}`,
    ],
    entryType: TYPE_NAMES[type] ?? null,
    bankId: toBankId(readValue('FITID')),
  });
}

function toLeftOutLine(row: Element, reason: string): LeftOutLine {
  const text = ['DTPOSTED', 'DTTRAN', 'TRNAMT', 'NAME'].map((name) => findValue(row, name));
  return { line: row.line, reason, text: text.filter((each) => each !== '').join(' ') };
}

type Sign = (amount: number, type: string) => number;

/**
 * Decides how amounts are signed. Some banks write no signs, and some card issuers reverse them: then the types of the rows
 * decide.
 */
function decideSigns(rows: readonly Element[]): Sign {
  const directionsByType = rows.map((row) => {
    const isNegative = /^[-−]/.test(findValue(row, 'TRNAMT'));
    return `${readType(row)} ${isNegative ? 'out' : 'in'}`;
  });
  const includesDirection = (text: string) => directionsByType.includes(text);
  if (!directionsByType.some((text) => text.endsWith(' out')) && includesDirection('DEBIT in'))
    return (amount, type) => (OUTGOING.includes(type) ? 0 - amount : amount);
  const areSignsReversed =
    includesDirection('DEBIT in') &&
    includesDirection('CREDIT out') &&
    !includesDirection('DEBIT out') &&
    !includesDirection('CREDIT in');
  return (amount) => (areSignsReversed ? 0 - amount : amount);
}

function readType(row: Element): string {
  return findValue(row, 'TRNTYPE').toUpperCase();
}

/** Accepts groups of digits: OFX forbids them, but some banks write them. */
function readAmount(text: string): number {
  if (AMBIGUOUS.test(text))
    throw new Error(`the amount "${text}" may have groups of digits or decimals`);
  return readExactAmount(
    text.replace(GROUPED, (_, whole: string, separator: string, cents: string) => {
      return `${whole.replaceAll(separator, '')}.${cents}`;
    }),
  );
}

/** Reads only the day. A time and its zone may follow, but they do not change the day that the bank states. */
function readOfxDate(text: string): string {
  const [, year, month, day] = /^(\d{4})-?(\d{2})-?(\d{2})/.exec(text) ?? [];
  if (year === undefined || !(Number(year) > 0)) throw new Error(`"${text}" is not an OFX date`);
  return `${year}-${month}-${day}`;
}

/** Applies corrections: a row may delete or replace one that the bank sent earlier. */
function applyCorrections(rows: readonly Element[]) {
  const correctionById = new Map<string, Element>();
  for (const row of rows) {
    const id = findValue(row, 'CORRECTFITID');
    if (id !== '') correctionById.set(id, row);
  }
  const replacedLines: LeftOutLine[] = [];
  const currentRows = rows.filter((row) => {
    const isCorrected = correctionById.has(findValue(row, 'FITID'));
    const isDeletion = findValue(row, 'CORRECTACTION').toUpperCase() === 'DELETE';
    if (isCorrected) replacedLines.push(toLeftOutLine(row, 'corrected by a later row'));
    if (isDeletion)
      replacedLines.push(
        toLeftOutLine(row, 'cancels an earlier row: delete that one if the ledger has it'),
      );
    return !isCorrected && !isDeletion;
  });
  return { currentRows, replacedLines };
}

function nameAccount(statement: Element): string | null {
  const [accountNode] = findAll(statement.children, ['BANKACCTFROM', 'CCACCTFROM']);
  if (!accountNode) return null;
  const parts = ['BANKID', 'BRANCHID', 'ACCTID'].map((name) => findValue(accountNode, name));
  return parts.filter((part) => part !== '').join('/') || null;
}

/** Finds the elements with one of the names, in the order of the file, without searching inside a match. */
function findAll(elements: readonly Element[], names: readonly string[]): readonly Element[] {
  return elements.flatMap((element) =>
    names.includes(element.name) ? element : findAll(element.children, names),
  );
}

/** Finds the first value with the name at any depth: an unclosed empty value seems to contain the values after it. */
function findValue({ children }: Element, name: string): string {
  for (const child of children) {
    if (child.name === name && child.children.length === 0) return child.text;
    const value = OTHER_PARTIES.includes(child.name) ? '' : findValue(child, name);
    if (value !== '') return value;
  }
  return '';
}

/** Parses the tags. A tag before text is a value, closed or not; every other tag contains what follows up to its closing tag. */
function parseElements(text: string): readonly Element[] {
  const body = replaceCdata(text);
  const lineAt = createLineCounter(body);
  const root: Element = { name: '', line: 1, text: '', children: [] };
  const openElements: Element[] = [root];
  for (const { 1: slash, 2: tag = '', 3: followingText = '', index } of body.matchAll(TAG)) {
    const name = tag.toUpperCase();
    const value = decodeEntities(followingText.trim());
    if (slash === '/') {
      const openingIndex = openElements.findLastIndex((element) => element.name === name);
      if (openingIndex > 0) openElements.length = openingIndex;
      continue;
    }
    // A transaction never contains another: the closing tag of the open one is missing.
    const unclosedIndex =
      name === 'STMTTRN' ? openElements.findIndex((element) => element.name === name) : -1;
    if (unclosedIndex > 0) openElements.length = unclosedIndex;
    const element = { name, line: lineAt(index), text: value, children: [] };
    openElements.at(-1)?.children.push(element);
    if (openElements.length > MAX_DEPTH)
      throw new UserError('The tags of the OFX file are nested too deeply. Download it again.');
    if (value === '') openElements.push(element);
  }
  return root.children;
}

/** Replaces each CDATA block with its text, in which special characters become entities. */
function replaceCdata(text: string): string {
  const [leadingText = '', ...blocks] = text.split(CDATA_START);
  const replacedBlocks = blocks.map((block) => {
    const end = block.indexOf(CDATA_END);
    if (end < 0) return block;
    const escapedText = block.slice(0, end).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    return escapedText + block.slice(end + CDATA_END.length);
  });
  return [leadingText, ...replacedBlocks].join('');
}

function decodeEntities(text: string): string {
  return text.replace(ENTITY, (entity, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code <= MAX_CODE_POINT ? String.fromCodePoint(code) : entity;
  });
}
