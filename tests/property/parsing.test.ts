// Whatever a client sends, parsing gives typed fields or a ValidationError, and nothing else happens.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCalendarDate } from '../../lib/domain/calendar-date.ts';
import { canonicalId } from '../../lib/domain/record.ts';
import { ValidationError } from '../../lib/errors.ts';
import {
  parseCategoryChanges,
  parseCategoryQuery,
  parseNewCategory,
} from '../../lib/http/category-json.ts';
import {
  parseNewTransaction,
  parseTransactionChanges,
  parseTransactionQuery,
} from '../../lib/http/transaction-json.ts';
import { generatedFields, generatedQuery } from '../support/api/generated-requests.ts';
import { SEED, seeded } from '../support/seed.ts';

type Parse = (sent: Readonly<Record<string, never>>) => unknown;

function expectFieldsOrFaults(parse: Parse, sent: object): void {
  const before = JSON.stringify(sent);
  try {
    parse(sent as Record<string, never>);
  } catch (error) {
    expect(error).toBeInstanceOf(ValidationError);
    const { details = {} } = error as ValidationError;
    expect(Object.keys(details).length).toBeGreaterThan(0);
    for (const sentences of Object.values(details)) expect(sentences.length).toBeGreaterThan(0);
  }
  expect(JSON.stringify(sent)).toBe(before);
}

describe(`bodies (seed ${SEED})`, () => {
  test.each<[string, Parse]>([
    ['parseNewTransaction', parseNewTransaction],
    ['parseTransactionChanges', parseTransactionChanges],
    ['parseNewCategory', parseNewCategory],
    ['parseCategoryChanges', parseCategoryChanges],
  ])('%s', (_, parse) => {
    const anything = fc.oneof(generatedFields, fc.dictionary(fc.string(), fc.jsonValue()));
    const parses = fc.property(anything, (body) => expectFieldsOrFaults(parse, body));
    fc.assert(parses, seeded(3_000));
  });
});

describe(`query strings (seed ${SEED})`, () => {
  test.each<[string, Parse]>([
    ['parseTransactionQuery', parseTransactionQuery],
    ['parseCategoryQuery', parseCategoryQuery],
  ])('%s', (_, parse) => {
    const parses = fc.property(generatedQuery, (pairs) => {
      expectFieldsOrFaults(parse, Object.fromEntries(pairs));
    });
    fc.assert(parses, seeded(3_000));
  });
});

test(`a canonical id is the text it was read from (seed ${SEED})`, () => {
  const canonical = fc.property(
    fc.oneof(fc.string(), fc.integer().map(String), fc.bigInt().map(String)),
    (text) => {
      const id = canonicalId(text);
      if (id === undefined) return;
      expect(String(id)).toBe(text);
      expect(id).toBeGreaterThan(0);
    },
  );
  fc.assert(canonical, seeded(5_000));
});

test(`a text is a calendar date just when the calendar has that day (seed ${SEED})`, () => {
  const part = (length: number, max: number) =>
    fc.nat({ max }).map((value) => String(value).padStart(length, '0'));
  const dateLike = fc
    .tuple(part(4, 9999), part(2, 14), part(2, 33))
    .map((parts) => parts.join('-'));
  const agrees = fc.property(dateLike, (text) => {
    const instant = new Date(`${text}T00:00:00.000Z`);
    const isDay = !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(text);
    expect(isCalendarDate(text)).toBe(isDay && !text.startsWith('0000'));
  });
  fc.assert(agrees, seeded(5_000));
});
