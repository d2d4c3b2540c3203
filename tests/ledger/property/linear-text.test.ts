// A client's text costs time in proportion to its length: no regular expression of the service, and no function that walks over
// a text, takes more. The tests find every literal expression in the sources and attack it. Expressions that are composed at run
// time are listed by the function that runs them.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { createMatcher } from '../../../lib/ledger/domain/search.ts';
import { importPartBody } from '../../../lib/ledger/http/import-json.ts';
import { withoutLoss } from '../../../lib/ledger/http/json-text.ts';
import { noRoute } from '../../../lib/ledger/http/no-route.ts';
import { isExpectedBy, unlessKnown } from '../../../lib/ledger/http/preconditions.ts';
import { isUtf8, readQuery } from '../../../lib/ledger/http/query-string.ts';
import { fromTextCell, toCsvLine } from '../../../lib/ledger/http/transaction-csv.ts';
import { newTransactionBody } from '../../../lib/ledger/http/transaction-json.ts';
import type { Booking } from '../../../lib/ledger/import/booking.ts';
import { numberSharedIds, toBooking } from '../../../lib/ledger/import/stated-bookings.ts';
import { readCsv } from '../../../lib/ledger/import/statement.ts';
import { UserError } from '../../../lib/shared/user-error.ts';
import { TEA } from '../support/tea.ts';

type Walk = (text: string) => unknown;

const PROJECT = join(import.meta.dirname, '../../..');
const SOURCES = 'lib/ledger/{auth,domain,http,service,store}/**/*.ts';
/** Finds regular expression literals: they stand where an expression begins, and the formatter keeps them on one line. */
const LITERAL =
  /(?<=[=(,:?]\s+|[(,]|^\s*)\/(?![/*])((?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/gm;
const COMPOSED = /new RegExp\(/g;

/** Functions over texts of clients, which also run the patterns that are composed from parts */
const FUNCTIONS: Readonly<Record<string, Walk>> = {
  'notes in a CSV export': (notes) => toCsvLine({ ...TEA, notes }),
  'a cell that is read back': fromTextCell,
  'a JSON body': withoutLoss,
  'a row of an import': (row) => v.safeParse(importPartBody, { import_id: row, rows: [row] }),
  'notes that are searched (HAS_PLAIN_FORM)': (notes) => isTea({ ...TEA, notes }),
  'text and import_id (VISIBLE, PRINTABLE)': (text) =>
    v.safeParse(newTransactionBody, { description: text, import_id: text }),
  'If-Match (TAGS, LIST_OF_TAGS)': (text) => isExpectedBy({ 'if-match': text }, 't', 1),
  'If-None-Match': (text) => unlessKnown({ status: 200, body: {}, headers: { etag: 'x' } }, text),
  'a query string': (text) => [isUtf8(text), readQuery({ rawQueryString: text })],
  'a header of a file to import': (text) => readRows(`Date,Amount,${text}`),
  'a cell of a file to import': (text) => readRows(`2026-01-02,-1.00,${text}`),
  'an amount of a file to import': (text) => readRows(`2026-01-02,"${text}",x`),
  'a date of a file to import': (text) => readRows(`"${text}",-1.00,x`),
  'a path': (text) => noRoute('GET', `/${text}`),
};
/** Length of the longest cell that a file may have; cells of NESTED texts are compared from an eighth of this length on. */
const LONG_CELL = 40_000;
const NESTED = ['(', '[', '{', '()', ' (', ')', '<', '-', '1', '1,', ' ', 'a ', 'é'];
const FILES: Readonly<Record<string, Walk>> = {
  'a header cell': (text) => readRows(`Date,Amount,"${text}"`),
  'a cell of a row': (text) => readRows(`2026-01-02,-1.00,"${text}"`),
  'an amount': (text) => readRows(`2026-01-02,"${text}",x`),
};

/** Makes bookings with the same id, date and amount, and texts that differ only at the end. */
function makeEqualIds(count: number): readonly Booking[] {
  return Array.from({ length: count }, (_, n) =>
    toBooking({
      ...{ line: n, date: '2026-01-02', signed: -1, account: null, bankId: 'A', currency: 'EUR' },
      texts: [`Shop ${n + LONG_CELL}`],
    }),
  );
}

/** Reads a file with that row; a refusal with a UserError counts as an answer. */
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
  // Takes the id of a key from an operator, not from a client.
  'lib/ledger/store/api-keys.ts': 1,
  'lib/ledger/domain/search.ts': 1,
  'lib/ledger/domain/text.ts': 2,
  'lib/ledger/http/import-json.ts': 1,
  'lib/ledger/http/preconditions.ts': 2,
};

const HEADS = ['', '"', ';', 'a', '1.'];
const PUMPS = [
  ...['a', '0', ' ', '\n', '"', ',', '/', '-', '\\', '%41', '[', '"\n', ';"', '\\"', '"a":', 'W/"'],
  // Unicode normalization has to reorder these two combining marks.
  ...['"a",', ', ', '\u0315\u0300'],
];
const TAILS = ['', '!', '"', '/', '\u0000'];
const SMALL = 400;
const GROWTH = 8;
const LONG = { times: [5, 20], warmUp: GROWTH };
/** Linear work grows eightfold here, quadratic work 64-fold. */
const MAX_RATIO = 24;

const SHAPES = HEADS.flatMap((head) =>
  PUMPS.flatMap((pump) => TAILS.map((tail) => ({ head, pump, tail }))),
);

/** Finds a text for which the work grows faster than its length; undefined if there is no such text. */
function findSuperlinear(walk: Walk): Shape | undefined {
  return SHAPES.find(({ head, pump, tail }) =>
    growsFaster(walk, (length) => head + pump.repeat(length / pump.length) + tail, {
      largest: SMALL * GROWTH,
      times: [5, 20, 80],
    }),
  );
}

type Shape = Readonly<Record<'head' | 'pump' | 'tail', string>>;

/** Lengths to compare, and numbers of measurements before the growth counts */
interface Measurement {
  readonly largest: number;
  readonly times: readonly number[];
  /** Factor by which the shorter text runs more often, so that the function is compiled */
  readonly warmUp?: number;
}

/**
 * Compares the shortest times: a pause of the machine can make a measurement longer, never shorter. So one short measurement of
 * the large input is enough to pass, and a long one is repeated.
 */
function growsFaster<Input>(
  walk: (input: Input) => unknown,
  make: (length: number) => Input,
  { largest, times, warmUp = 1 }: Measurement,
): boolean {
  const [small, large] = [make(largest / GROWTH), make(largest)];
  const exceeds = (ofLarge: number, ofSmall: number) =>
    shortest(walk, large, ofLarge) / shortest(walk, small, ofSmall * warmUp) > MAX_RATIO;
  return exceeds(1, 2) && times.every((each) => exceeds(each, each));
}

function shortest<Input>(walk: (input: Input) => unknown, input: Input, times: number): number {
  const durations = Array.from({ length: times }, () => {
    const start = performance.now();
    try {
      walk(input);
    } catch {
      // A refusal of the text is an answer, too.
    }
    return performance.now() - start;
  });
  return Math.min(...durations);
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

describe('the work of a client’s text grows no faster than the text', () => {
  test.each(literals)('$file: $pattern', ({ pattern }) => {
    expect(findSuperlinear((text) => text.replace(pattern, ''))).toBeUndefined();
  });

  test.each(Object.entries(FUNCTIONS))('%s', (_, walk) => {
    expect(findSuperlinear(walk)).toBeUndefined();
  });
});

describe('the work of a file to import grows no faster than the file', () => {
  test.each(Object.entries(FILES))('with %s of 40,000 characters', (_, walk) => {
    const slow = NESTED.filter((pump) =>
      growsFaster(walk, (length) => pump.repeat(length / pump.length), {
        largest: LONG_CELL,
        ...LONG,
      }),
    );
    expect(slow).toEqual([]);
  });

  test('with 3,000 bookings of one id', () => {
    // More bookings would not fit the processor's cache, and each would take longer.
    expect(growsFaster(numberSharedIds, makeEqualIds, { largest: 3_000, ...LONG })).toBe(false);
    const ids = numberSharedIds(makeEqualIds(3)).map(({ bankId }) => bankId);
    expect(ids).toEqual(['A', 'A/2', 'A/3']);
  });
});

// For a new composed pattern: add the function that runs it to FUNCTIONS, and count it in COMPOSED_BY_FILE.
test('the sources have no other composed pattern', () => {
  const found = files.flatMap(({ file, source }) => {
    const count = [...source.matchAll(COMPOSED)].length;
    return count > 0 ? [[file, count]] : [];
  });
  expect(Object.fromEntries(found)).toEqual(COMPOSED_BY_FILE);
  expect(literals.length).toBeGreaterThan(20);
});

test.each([/[^/]+$/, /[;\n](?=(?:"\s*)*=)/g])('the measurement finds %s', (pattern) => {
  expect(findSuperlinear((text) => text.replace(pattern, ''))).toBeDefined();
});
