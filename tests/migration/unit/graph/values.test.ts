// Values of a graph in a dump: their form on disk, and the values that are refused.
import { DateTime, int, Node } from 'neo4j-driver';
import { describe, expect, test } from 'vitest';
import {
  decodeValue,
  encodeProperties,
  encodeValue,
} from '../../../../lib/migration/graph/values.ts';

const EMBEDDING = Array.from({ length: 64 }, (_, index) => Math.fround(index / 7));

describe('a value survives a round trip through a file:', () => {
  test.each([
    ['an integer beyond 2^53', int('9007199254740993'), { $int: '9007199254740993' }],
    ['the smallest integer', int('-9223372036854775808'), { $int: '-9223372036854775808' }],
    ['the float 1', 1, { $f: '1' }],
    ['a float with a fraction', 0.1, 0.1],
    ['the negative zero', -0, { $f: '-0' }],
    ['not a number', Number.NaN, { $f: 'NaN' }],
    ['an embedding', EMBEDDING, { $f32: expect.any(String) }],
    ['a long list of doubles', EMBEDDING.map((x) => x + 1e-12), { $f64: expect.any(String) }],
    ['an embedding with a hole', [...EMBEDDING, Number.NaN], { $f64: expect.any(String) }],
    ['an embedding with an infinity', [...EMBEDDING, Infinity], { $f64: expect.any(String) }],
    ['bytes', Int8Array.of(-1, 0, 1), { $b64: '/wAB' }],
  ])('%s', (_, value, written) => {
    expect(encodeValue(value)).toEqual(written);
    expect(decodeValue(encodeValue(value))).toStrictEqual(value);
  });

  test('a date-time with its zone and its offset, which the zone alone leaves ambiguous for an hour in autumn', () => {
    const value = new DateTime(2024, 10, 27, 2, 30, 0, 1, 7_200, 'Europe/Amsterdam');
    const parts = ['2024', '10', '27', '2', '30', '0', '1', '7200', 'Europe/Amsterdam'];
    expect(encodeValue(value)).toEqual({ $dt: parts });
  });
});

describe('a value of a graph is refused by name:', () => {
  class UnsupportedType {
    readonly name = 'HYPERLOGLOG';
  }

  test.each([
    ['a type the driver does not know', new UnsupportedType(), 'UnsupportedType HYPERLOGLOG'],
    ['a node', new Node(int(1), [], {}, 'a'), 'Node'],
    ['a JavaScript date', new Date(0), 'Date'],
    ['a map, which no graph stores', { born: 1815 }, 'Object'],
    ['a bigint', 1n, 'bigint'],
    ['undefined', undefined, 'undefined'],
  ])('%s', (_, value, typeName) => {
    expect(() => encodeValue([value], 'node 7.embedding')).toThrow(
      expect.objectContaining({
        name: 'RefusedByService',
        why: expect.stringMatching(new RegExp(`^node 7\\.embedding\\[0\\] .*: ${typeName}\\.$`)),
      }),
    );
  });

  test('a value that the driver cannot read', () => {
    const broken = new Proxy({}, { getPrototypeOf: () => fail('Invalid time value') });
    expect(() => encodeProperties({ at: broken }, 'node 7')).toThrow(
      'node 7.at is a value that the driver',
    );
  });

  test('a date-time without its offset, which is ambiguous for an hour in autumn', () => {
    const parts = [2024, 10, 27, 2, 30, 0, 0] as const;
    const ambiguous = new DateTime(...parts, undefined, 'Europe/Amsterdam');
    expect(() => encodeValue(ambiguous)).toThrow('without its offset');
  });
});

function fail(message: string): never {
  throw new RangeError(message);
}
