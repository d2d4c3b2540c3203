// Processing a client's text takes time in proportion to its length. The test finds every regular expression in the sources and
// runs it on harmful texts. Expressions composed from parts are covered through the functions that run them.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { createMatcher } from '../../../lib/ledger/domain/search.ts';
import { importPartBody } from '../../../lib/ledger/http/import-json.ts';
import { replaceLossyNumbers } from '../../../lib/ledger/http/json-text.ts';
import { createRouteError } from '../../../lib/ledger/http/no-route.ts';
import { readVersionCheck, replyIfModified } from '../../../lib/ledger/http/preconditions.ts';
import { isUtf8, readQuery } from '../../../lib/ledger/http/query-string.ts';
import { fromTextCell, toCsvLine } from '../../../lib/ledger/http/transaction-csv.ts';
import { newTransactionBody } from '../../../lib/ledger/http/transaction-json.ts';
import type { Entry } from '../../../lib/ledger/import/entry.ts';
import { numberSharedIds, toEntry } from '../../../lib/ledger/import/stated-entries.ts';
import { readCsv } from '../../../lib/ledger/import/statement.ts';
import { UserError } from '../../../lib/shared/user-error.ts';
import { oneInEvery } from '../../shared/support/quick-cases.ts';
import { TEA } from '../support/tea.ts';

type Walk = (text: string) => unknown;

const PROJECT = join(import.meta.dirname, '../../..');
const SOURCES = 'lib/ledger/{auth,domain,http,service,store}/**/*.ts';
/** A literal begins where an expression can, and the formatter keeps it on one line. */
const LITERAL =
  /(?<=[=(,:?]\s+|[(,]|^\s*)\/(?![/*])((?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/gm;
const COMPOSED = /new RegExp\(/g;

/** Functions that process what clients send, and run the patterns that are composed from parts */
const FUNCTIONS: Readonly<Record<string, Walk>> = {
  'notes in a CSV export': (notes) => toCsvLine({ ...TEA, notes }),
  'a cell of a CSV export that is imported': fromTextCell,
  'a JSON body': replaceLossyNumbers,
  'a row of an import': (row) => v.safeParse(importPartBody, { import_id: row, rows: [row] }),
  'notes that are searched (HAS_PLAIN_FORM)': (notes) => isTea({ ...TEA, notes }),
  'text and import_id (VISIBLE, PRINTABLE)': (text) =>
    v.safeParse(newTransactionBody, { description: text, import_id: text }),
  'If-Match (TAGS, LIST_OF_TAGS)': (text) =>
    readVersionCheck({ 'if-match': text }, 'transaction', 1),
  'If-None-Match': (text) =>
    replyIfModified({ status: 200, body: {}, headers: { etag: 'x' } }, text),
  'a query string': (text) => [isUtf8(text), readQuery({ rawQueryString: text })],
  'a header of a file to import': (text) => readRows(`Date,Amount,${text}`),
  'a cell of a file to import': (text) => readRows(`2026-01-02,-1.00,${text}`),
  'an amount of a file to import': (text) => readRows(`2026-01-02,"${text}",x`),
  'a date of a file to import': (text) => readRows(`"${text}",-1.00,x`),
  'a path': (text) => createRouteError('GET', `/${text}`),
};
/** Length of the longest cells of a file to import */
const LONG_CELL = 40_000;
/** Strings that these cells repeat, because the patterns for cells nest or repeat them */
const CELL_PUMPS = ['(', '[', '{', '()', ' (', ')', '<', '-', '1', '1,', ' ', 'a ', 'é'];
const FILES: Readonly<Record<string, Walk>> = {
  'a header cell': (text) => readRows(`Date,Amount,"${text}"`),
  'a cell of a row': (text) => readRows(`2026-01-02,-1.00,"${text}"`),
  'an amount': (text) => readRows(`2026-01-02,"${text}",x`),
};

/** Entries that share an id, a date and an amount, and differ at the end of their text. */
function makeEqualIds(count: number): readonly Entry[] {
  return Array.from({ length: count }, (_, n) =>
    toEntry({
      ...{ line: n, date: '2026-01-02', signed: -1, account: null, bankId: 'A', currency: 'EUR' },
      texts: [`Shop ${n + LONG_CELL}`],
    }),
  );
}

/** Reads a row as a file; a refusal of the file counts as a result. */
function readRows(row: string): unknown {
  try {
    return readCsv(`${row}\nDate,Amount,Description\n${row}\n2026-01-02,-1.00,Tea\n${row}`);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}
const isTea = createMatcher({
  ...{ text: 'café', type: undefined, startDate: undefined, endDate: undefined },
});
const COMPOSED_BY_FILE = {
  // The id of a key, which only an operator enters.
  'lib/ledger/store/api-keys.ts': 1,
  'lib/ledger/domain/search.ts': 1,
  'lib/ledger/domain/text.ts': 2,
  'lib/ledger/http/import-json.ts': 1,
  'lib/ledger/http/preconditions.ts': 2,
};

const HEADS = ['', '"', ';', 'a', '1.'];
const PUMPS = [
  ...['a', '0', ' ', '\n', '"', ',', '/', '-', '\\', '%41', '[', '"\n', ';"', '\\"', '"a":', 'W/"'],
  // Normalisation sorts a combining mark before one of a higher class.
  ...['"a",', ', ', '\u0315\u0300'],
];
const TAILS = ['', '!', '"', '/', '\u0000'];
const LARGE = 3_200;
const GROWTH = 8;
/** Proportional work grows eightfold here, and quadratic work 64-fold. */
const MAX_RATIO = 24;

// Every eighth combination still has each head with each tail, and each pump.
const SHAPES = oneInEvery(
  8,
  HEADS.flatMap((head) => PUMPS.flatMap((pump) => TAILS.map((tail) => ({ head, pump, tail })))),
);

/** Finds a shape of text for which the work grows faster than the text. */
function findSuperlinear(walk: Walk): Shape | undefined {
  return SHAPES.find(({ head, pump, tail }) =>
    growsFaster(walk, (length) => head + pump.repeat(length / pump.length) + tail, LARGE),
  );
}

type Shape = Readonly<Record<'head' | 'pump' | 'tail', string>>;

type Measure = (call: () => void) => number;

/**
 * Work counts as slow only if every measure finds it slow. Elapsed time is quick to measure, but includes waiting on a busy machine.
 * The processor time of this thread excludes waiting, but advances in steps of a few milliseconds, so it is measured over many calls.
 */
const MEASURES: readonly Measure[] = [
  (call) => Math.min(measureElapsed(call), measureElapsed(call)),
  (call) => measureProcessor(call, 5),
  (call) => measureProcessor(call, 20),
  (call) => measureProcessor(call, 200),
];

function growsFaster<Input>(
  walk: (input: Input) => unknown,
  make: (length: number) => Input,
  largest: number,
): boolean {
  const [small, large] = [make(largest / GROWTH), make(largest)];
  return MEASURES.every((measure) => {
    // The larger input runs first, so that the code is compiled for both.
    const longer = measure(() => runIgnoringRefusal(walk, large));
    return longer / measure(() => runIgnoringRefusal(walk, small)) > MAX_RATIO;
  });
}

function runIgnoringRefusal<Input>(walk: (input: Input) => unknown, input: Input): void {
  try {
    walk(input);
  } catch {
    // A refusal of the text counts as a result.
  }
}

function measureElapsed(call: () => void): number {
  const start = performance.now();
  call();
  return performance.now() - start;
}

/** @returns the milliseconds of processor time of one call, averaged over calls that take at least `minMs` together */
function measureProcessor(call: () => void, minMs: number): number {
  const start = process.threadCpuUsage();
  for (let calls = 1; ; calls += 1) {
    call();
    const { user, system } = process.threadCpuUsage(start);
    const spent = (user + system) / 1_000;
    if (spent >= minMs) return spent / calls;
  }
}

const files = globSync(SOURCES, { cwd: PROJECT }).map((file) => ({
  file,
  source: readFileSync(join(PROJECT, file), 'utf8'),
}));
const literals = files.flatMap(({ file, source }) =>
  [...source.matchAll(LITERAL)].map(([, pattern = '', flags]) => ({
    file,
    pattern: new RegExp(pattern, flags),
  })),
);

describe('the work for a client’s text grows no faster than the text', () => {
  test.each(literals)('$file: $pattern', ({ pattern }) => {
    expect(findSuperlinear((text) => text.replace(pattern, ''))).toBeUndefined();
  });

  test.each(Object.entries(FUNCTIONS))('%s', (_, walk) => {
    expect(findSuperlinear(walk)).toBeUndefined();
  });
});

describe('the work for a file to import grows no faster than the file', () => {
  test.each(Object.entries(FILES))('with %s of 40,000 characters', (_, walk) => {
    const slow = CELL_PUMPS.filter((pump) =>
      growsFaster(walk, (length) => pump.repeat(length / pump.length), LONG_CELL),
    );
    expect(slow).toEqual([]);
  });

  test('with 3,000 entries that share an id', () => {
    // More entries would not fit in the processor's cache, and each would take longer.
    expect(growsFaster(numberSharedIds, makeEqualIds, 3_000)).toBe(false);
    const ids = numberSharedIds(makeEqualIds(3)).map(({ bankId }) => bankId);
    expect(ids).toEqual(['A', 'A/2', 'A/3']);
  });
});

// If this test fails, add the function that runs the new pattern to FUNCTIONS, and count the pattern in COMPOSED_BY_FILE.
test('the sources contain no other composed pattern', () => {
  const found = files.flatMap(({ file, source }) => {
    const count = [...source.matchAll(COMPOSED)].length;
    return count > 0 ? [[file, count]] : [];
  });
  expect(Object.fromEntries(found)).toEqual(COMPOSED_BY_FILE);
  expect(literals.length).toBeGreaterThan(20);
});

test.each([/[^/]+$/, /[;\n](?=(?:"\s*)*=)/g])(
  'the measurement finds the slow pattern %s',
  (pattern) => {
    expect(findSuperlinear((text) => text.replace(pattern, ''))).toBeDefined();
  },
);
