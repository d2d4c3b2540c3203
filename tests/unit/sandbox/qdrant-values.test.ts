// The values the Qdrant sandbox makes: float texts, token hashes, keyword vectors, order of ids.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeBm25 } from '../../../sandbox/qdrant/bm25.ts';
import { float32Text } from '../../../sandbox/qdrant/float32-text.ts';
import { murmur3 } from '../../../sandbox/qdrant/murmur3.ts';
import { toIdText, toPointKey } from '../../../sandbox/qdrant/point-ids.ts';
import { compareVersions, DEFAULT_VERSION } from '../../../sandbox/qdrant/versions.ts';

describe('a 32-bit float', () => {
  test('is written so that it reads back as itself', () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const back = Math.fround(Number(float32Text(value)));
        expect(Object.is(back, value)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    [0.1, '0.1'],
    [1, '1.0'],
    [-0, '-0.0'],
    [0.18257418, '0.18257418'],
    [1e-7, '1e-7'],
    [16777216, '16777216.0'],
  ])('%d is written as %s', (value, text) => {
    expect(float32Text(Math.fround(value))).toBe(text);
  });
});

// Reference values of MurmurHash3_x86_32 with seed 0.
test.each([
  ['', 0],
  ['test', 0xba6bd213],
  ['Hello, world!', 0xc0363e43],
  ['The quick brown fox jumps over the lazy dog', 0x2e4ff723],
])('murmur3 of %j', (text, hash) => {
  expect(murmur3(text)).toBe(hash);
});

describe('a keyword vector', () => {
  test('is the same for the same words in any order, with ascending indices', () => {
    const one = encodeBm25('The cat likes green teas');
    expect(encodeBm25('green tea; cats like')).toEqual(one);
    expect([...one.indices]).toEqual([...one.indices].sort((a, b) => a - b));
  });

  test('weighs a term by saturated frequency and length', () => {
    const weight = (3 * 2.2) / (3 + 1.2 * (1 - 0.75 + (0.75 * 3) / 256));
    expect(encodeBm25('tea tea tea').values[0]).toBeCloseTo(weight, 5);
  });

  test.each(['', '  ', 'the and of', '!?'])('is empty for %j, which has no terms', (text) => {
    expect(encodeBm25(text).indices).toHaveLength(0);
  });
});

describe('point ids', () => {
  test('sort by number, then by UUID', () => {
    const uuid = '"c56a4180-65aa-42ec-a945-5fd21dec0538"';
    const ids = ['9', '10', '18446744073709551615', uuid];
    expect([...ids].reverse().map(toPointKey).sort().map(toIdText)).toEqual(ids);
  });

  test.each(['-1', '1.5', '18446744073709551616', '"memory-1"', 'true'])('%s is none', (id) => {
    expect(() => toPointKey(id)).toThrow(/not a valid point ID/);
  });
});

test('the sandbox is of the version that compose.yaml starts', () => {
  const compose = readFileSync(join(import.meta.dirname, '../../../compose.yaml'), 'utf8');
  expect(/qdrant\/qdrant:v([\d.]+)/.exec(compose)?.[1]).toBe(DEFAULT_VERSION);
});

test('versions compare by number', () => {
  const sorted = ['1.9.7', '1.15.3', '1.18.0'];
  expect([...sorted].reverse().sort(compareVersions)).toEqual(sorted);
});
