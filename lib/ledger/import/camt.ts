// Reads CAMT.053 and CAMT.052, the XML account statements of ISO 20022, in all versions. A batch that lists its parts becomes
// one entry for each part; entries that are not booked are left out and named.
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { UserError } from '../../shared/user-error.ts';
import {
  type Entry,
  type LeftOutLine,
  type ParsedEntries,
  pluralize,
  type Question,
  type RefusedLine,
} from './entry.ts';
import { toBankId } from './row-ids.ts';
import { createLineCounter, numberSharedIds, readExactAmount, toEntry } from './stated-entries.ts';

/** Text, or an element with its attributes and, in lists, its children. */
type Node = string | { readonly [name: string]: readonly Node[] | string };

const DOCUMENTS = ['BkToCstmrStmt', 'BkToCstmrAcctRpt'];
const STATEMENTS = ['Stmt', 'Rpt'];
const BOOKED = 'BOOK';
const STATUS_NAMES: Readonly<Record<string, string>> = {
  PDNG: 'pending',
  FUTR: 'planned for a later day',
  INFO: 'for information only',
};
const ENTRY_TAG = /<(?:[\w.-]+:)?Ntry[\s>]/g;

/** Elements lose their namespace prefixes. Values stay text, so that no digit of an amount or an id is lost. */
const parser = new XMLParser({
  removeNSPrefix: true,
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  alwaysCreateTextNode: false,
  isArray: (_name, _path, _isLeaf, isAttribute) => !isAttribute,
});

/** Reads the name of the encoding that the document declares; undefined if it declares none. */
export function findXmlCharset(head: string): string | undefined {
  return /^\s*<\?xml[^>]*\sencoding=["']([\w-]+)["']/i.exec(head)?.[1];
}

/** @throws UserError if the text has no statement in it */
export function readCamt(text: string): Omit<ParsedEntries, 'findings'> {
  const document = parse(text);
  const statements = DOCUMENTS.flatMap((name) => selectNodes(document, 'Document', name)).flatMap(
    (each) => STATEMENTS.flatMap((name) => selectNodes(each, name)),
  );
  if (statements.length === 0)
    throw new UserError('The file has no account statement. Choose another download.');
  const lineAt = createLineCounter(text);
  const lines = text.matchAll(ENTRY_TAG).map(({ index }) => lineAt(index));
  const parsedStatements = statements.map((statement) => readStatement(statement, lines));
  const unclearReversals = parsedStatements.reduce((sum, each) => sum + each.unclearReversals, 0);
  return {
    entries: numberSharedIds(parsedStatements.flatMap(({ entries }) => entries)),
    leftOut: parsedStatements.flatMap(({ leftOut }) => leftOut),
    refused: parsedStatements.flatMap(({ refused }) => refused),
    questions: unclearReversals === 0 ? [] : [askAboutReversals(unclearReversals)],
  };
}

interface ParsedStatement extends Pick<ParsedEntries, 'entries' | 'leftOut' | 'refused'> {
  /** Number of reversals whose direction the balances do not show. */
  readonly unclearReversals: number;
}

/** @param lines the lines of all entries of the document, in order; a statement takes as many as it has */
function readStatement(statement: Node, lines: Iterator<number, undefined>): ParsedStatement {
  const account = nameAccount(statement);
  const entryNodes = selectNodes(statement, 'Ntry');
  const reversals = entryNodes.filter(isBooked).filter(isReversal).length;
  const reversalDirection = reversals === 0 ? 'own' : findReversalDirection(statement);
  const entries: Entry[] = [];
  const leftOut: LeftOutLine[] = [];
  const refused: RefusedLine[] = [];
  for (const entryNode of entryNodes) {
    const line = lines.next().value ?? 1;
    const status = readStatus(entryNode);
    if (status !== BOOKED) {
      leftOut.push({
        line,
        reason: STATUS_NAMES[status] ?? status,
        text: readValue(entryNode, 'Amt'),
      });
      continue;
    }
    try {
      entries.push(
        ...readEntryNode(entryNode, {
          line,
          account,
          repeatsDirection: reversalDirection === 'repeated',
        }),
      );
    } catch (error) {
      refused.push({ line, message: (error as Error).message });
    }
  }
  return {
    entries,
    leftOut,
    refused,
    unclearReversals: reversalDirection === undefined ? reversals : 0,
  };
}

/** @throws UserError if the text is not valid XML. The parser alone would read a truncated file as far as it goes. */
function parse(text: string): Node {
  const validity = XMLValidator.validate(text);
  if (validity === true) return parser.parse(text) as Node;
  const { msg, line } = validity.err;
  throw new UserError(`The file is not valid XML in line ${line}: ${msg} Download it again.`);
}

interface EntryContext {
  readonly line: number;
  readonly account: string | null;
  /** True if the bank repeats the direction of a reversed entry. */
  readonly repeatsDirection: boolean;
}

function readEntryNode(
  entryNode: Node,
  { repeatsDirection, ...location }: EntryContext,
): readonly Entry[] {
  const [amount = ''] = selectNodes(entryNode, 'Amt');
  const sign = repeatsDirection && isReversal(entryNode) ? -1 : 1;
  const signed = sign * readDirection(entryNode) * readExactAmount(readText(amount));
  const date = readDate(entryNode, 'BookgDt') ?? readDate(entryNode, 'ValDt');
  if (date === undefined) throw new Error('It has no booking date.');
  const sharedFields = { ...location, date, currency: readAttribute(amount, 'Ccy') };
  const entryId = readReference(entryNode, 'AcctSvcrRef');
  const parts = selectNodes(entryNode, 'NtryDtls', 'TxDtls');
  const amounts = readPartAmounts(parts, {
    entryNode,
    signed,
    sign,
    currency: sharedFields.currency,
  });
  if (!amounts) {
    const texts = listTexts(parts[0] ?? '', entryNode, signed);
    return [toEntry({ ...sharedFields, signed, texts, bankId: entryId })];
  }
  return parts.map((part, n) => {
    const partId = readReference(part, 'Refs', 'AcctSvcrRef');
    // The bank may give a batch one reference, and repeat it for each part.
    const numberedId = entryId && `${entryId}/${n + 1}`;
    const partAmount = amounts[n] ?? 0;
    return toEntry({
      ...{ ...sharedFields, signed: partAmount, texts: listTexts(part, entryNode, partAmount) },
      bankId: partId === null || partId === entryId ? numberedId : partId,
    });
  });
}

/**
 * @returns the signed amounts of a batch's parts; undefined if they do not add up to the entry, for example in another currency
 */
function readPartAmounts(
  parts: readonly Node[],
  entryFields: {
    readonly entryNode: Node;
    readonly signed: number;
    readonly sign: 1 | -1;
    readonly currency: string | null;
  },
): readonly number[] | undefined {
  if (parts.length < 2) return undefined;
  const amounts = parts.map((part) => {
    const amountNode = [
      ...selectNodes(part, 'Amt'),
      ...selectNodes(part, 'AmtDtls', 'TxAmt', 'Amt'),
      ...selectNodes(part, 'AmtDtls', 'InstdAmt', 'Amt'),
    ].find((amount) => readAttribute(amount, 'Ccy') === entryFields.currency);
    const directionNode = readValue(part, 'CdtDbtInd') === '' ? entryFields.entryNode : part;
    return amountNode === undefined
      ? Number.NaN
      : entryFields.sign * readDirection(directionNode) * readExactAmount(readText(amountNode));
  });
  const cents = amounts.reduce((sum, amount) => sum + Math.round(amount * 100), 0);
  return cents === Math.round(entryFields.signed * 100) ? amounts : undefined;
}

/**
 * Finds the direction that a bank writes for reversals. By the standard it is that of the money: a reversed debit is a credit.
 * Some banks repeat the direction of the reversed entry instead. The statement's balances show which.
 * @returns undefined if balances are missing, or fit both directions or neither
 */
function findReversalDirection(statement: Node): 'own' | 'repeated' | undefined {
  const bookedEntryNodes = selectNodes(statement, 'Ntry').filter(isBooked);
  const [openingBalance, closingBalance] = [['OPBD', 'PRCD'], ['CLBD']].map((codes) =>
    selectNodes(statement, 'Bal').find((each) =>
      codes.includes(readValue(each, 'Tp', 'CdOrPrtry', 'Cd')),
    ),
  );
  if (!openingBalance || !closingBalance) return undefined;
  try {
    const movedCents = readCents(closingBalance) - readCents(openingBalance);
    const addsUp = (reversalSign: 1 | -1) =>
      bookedEntryNodes.reduce(
        (sum, each) => sum + readCents(each) * (isReversal(each) ? reversalSign : 1),
        0,
      ) === movedCents;
    if (addsUp(1) === addsUp(-1)) return undefined;
    return addsUp(1) ? 'own' : 'repeated';
  } catch {
    return undefined;
  }
}

function askAboutReversals(reversals: number): Question {
  return {
    topic: 'direction',
    message: `The balances do not show the direction of ${pluralize(reversals, 'reversed transaction')}. The preview reads a credit as money that came back, as the standard says, but some banks repeat the direction of the reversed transaction. If the preview is right, add --as-it-is. If not, download a statement of whole days, with balances.`,
  };
}

function readCents(node: Node): number {
  return Math.round(readDirection(node) * readExactAmount(readValue(node, 'Amt')) * 100);
}

function isReversal(node: Node): boolean {
  return /^(?:true|1)$/.test(readValue(node, 'RvslInd'));
}

function isBooked(entryNode: Node): boolean {
  return readStatus(entryNode) === BOOKED;
}

function readStatus(entryNode: Node): string {
  return readValue(entryNode, 'Sts', 'Cd') || readValue(entryNode, 'Sts') || BOOKED;
}

function readDirection(node: Node): 1 | -1 {
  const word = readValue(node, 'CdtDbtInd').toUpperCase();
  if (/^CR/.test(word)) return 1;
  if (/^(?:DB|DEBIT)/.test(word)) return -1;
  throw new Error(`"${word}" is neither a credit nor a debit (CdtDbtInd)`);
}

function readDate(entryNode: Node, name: string): string | undefined {
  const dateText = readValue(entryNode, name, 'Dt') || readValue(entryNode, name, 'DtTm');
  return /^\d{4}-\d{2}-\d{2}/.exec(dateText)?.[0];
}

/** Lists the other party first, then the purpose. */
function listTexts(part: Node, entryNode: Node, signed: number): readonly string[] {
  // A reversal repeats the parties of the reversed entry: if money returns, the other party is still the creditor.
  const isPaidByOthers = signed > 0 !== (isReversal(entryNode) || isReversal(part));
  const roles = isPaidByOthers ? ['Dbtr', 'UltmtDbtr'] : ['Cdtr', 'UltmtCdtr'];
  const names = roles.map(
    (role) =>
      readValue(part, 'RltdPties', role, 'Nm') || readValue(part, 'RltdPties', role, 'Pty', 'Nm'),
  );
  const remittance = selectNodes(part, 'RmtInf', 'Ustrd').map(readText).join(' ');
  const references = selectNodes(part, 'RmtInf', 'Strd', 'CdtrRefInf', 'Ref')
    .map(readText)
    .join(' ');
  return [
    ...names,
    remittance,
    references,
    readValue(part, 'AddtlTxInf'),
    readValue(entryNode, 'AddtlNtryInf'),
  ];
}

function readReference(node: Node, ...path: readonly string[]): string | null {
  return toBankId(readValue(node, ...path));
}

function nameAccount(statement: Node): string | null {
  return (
    readValue(statement, 'Acct', 'Id', 'IBAN') ||
    readValue(statement, 'Acct', 'Id', 'Othr', 'Id') ||
    null
  );
}

/** Finds all elements at the path. */
function selectNodes(node: Node, ...path: readonly string[]): readonly Node[] {
  let nodes: readonly Node[] = [node];
  for (const name of path)
    nodes = nodes.flatMap((each) => {
      const children = typeof each === 'string' ? [] : (each[name] ?? []);
      return typeof children === 'string' ? [] : children;
    });
  return nodes;
}

/** Text of the first element at the path, '' if there is none. */
function readValue(node: Node, ...path: readonly string[]): string {
  const [first = ''] = selectNodes(node, ...path);
  return readText(first);
}

function readText(node: Node): string {
  if (typeof node === 'string') return node.trim();
  const text = node['#text'] ?? '';
  return typeof text === 'string' ? text.trim() : '';
}

function readAttribute(node: Node, name: string): string | null {
  const attribute = typeof node === 'string' ? undefined : node[`@${name}`];
  return typeof attribute === 'string' ? attribute : null;
}
