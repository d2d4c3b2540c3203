// Any JSON payload is kept unchanged, including its number literals.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scanJson } from '../../../lib/migration/json/json-scanner.ts';
import {
  asJsonText,
  canonicalizeJson,
  parseLossless,
  verbatim,
  writeJson,
} from '../../../lib/migration/json/json-text.ts';
import { seeded } from '../../shared/support/seed.ts';
import { addSpaces, jsonDocuments, nest, numberLiterals } from '../support/json-documents.ts';

describe('lossless parsing and writing', () => {
  test('keeps every document unchanged', () => {
    fc.assert(
      fc.property(jsonDocuments, (document) => {
        expect(JSON.stringify(parseLossless(document))).toBe(document);
      }),
      seeded(2_000),
    );
  });

  test('keeps every number literal', () => {
    fc.assert(
      fc.property(numberLiterals, (literal) => {
        expect(JSON.stringify(parseLossless(`{"n":[${literal}]}`))).toBe(`{"n":[${literal}]}`);
      }),
      seeded(2_000),
    );
  });

  test('keeps values a thousand levels deep', () => {
    const document = nest(1_000, '10.0');
    expect(JSON.stringify(parseLossless(document))).toBe(document);
  });

  test('keeps a member named __proto__ as a member', () => {
    const document = '{"__proto__":{"x":1.0},"b":2}';
    expect(JSON.stringify(parseLossless(document))).toBe(document);
    expect(canonicalizeJson(document)).toBe(document);
  });
});

describe('the canonical text', () => {
  test('is the same for every order of keys and every spacing', () => {
    fc.assert(
      fc.property(jsonDocuments, jsonDocuments, (first, second) => {
        const compact = `{"one":${first},"other":{"é":${second},"1":0}}`;
        const spaced = addSpaces(`{"other":{"1":0,"é":${second}},"one":${first}}`);
        expect(canonicalizeJson(spaced)).toBe(canonicalizeJson(compact));
      }),
      seeded(2_000),
    );
  });

  test.each([
    ['10.0', '10'],
    ['-0', '0'],
    ['9007199254740993', '9007199254740992'],
    ['1e400', '1e401'],
    ['"10"', '10'],
    ['[1,2]', '[2,1]'],
    ['{"a":null}', '{}'],
  ])('distinguishes %s from %s', (first, second) => {
    expect(canonicalizeJson(first)).not.toBe(canonicalizeJson(second));
  });
});

describe('the scanner', () => {
  test('returns the text of every part as it is written', () => {
    fc.assert(
      fc.property(jsonDocuments, jsonDocuments, (first, second) => {
        const scanner = scanJson(
          ` {"a" : [${first} , ${second}] ,"skipped":${first},"b":${second}}`,
        );
        expect(collectParts(scanner)).toEqual([first, second, second]);
      }),
      seeded(2_000),
    );
  });

  test.each(['', '{"a":', '[1,2', '{"a":"b', '{"a" 1}', '["\\"]', '{"a":[}'])(
    'refuses the malformed document %j',
    (document) => {
      expect(() => scanAll(document)).toThrow(expect.objectContaining({ name: 'JsonScanError' }));
    },
  );

  test('puts verbatim parts into a body untouched', () => {
    fc.assert(
      fc.property(jsonDocuments, (document) => {
        const body = { id: 1, absent: undefined, parts: [verbatim(asJsonText(document)), 'é'] };
        expect(writeJson(body)).toBe(`{"id":1,"parts":[${document},"é"]}`);
      }),
      seeded(2_000),
    );
  });
});

function collectParts(scanner: ReturnType<typeof scanJson>): string[] {
  const parts: string[] = [];
  for (const name of scanner.members<{ a: unknown; b: unknown; skipped: unknown }>()) {
    if (name === 'a') parts.push(...scanner.list(scanner.text));
    if (name === 'b') parts.push(scanner.text());
  }
  return parts;
}

function scanAll(document: string) {
  const scanner = scanJson(document);
  return document.startsWith('[') ? scanner.list(scanner.text) : scanner.texts();
}
