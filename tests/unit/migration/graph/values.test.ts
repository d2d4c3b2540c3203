import { DateTime, int, Node } from 'neo4j-driver';
import { describe, expect, test } from 'vitest';
import { decodeValue, encodeValue, parseTagged } from '../../../../lib/migration/graph/values.ts';

const SINGLES = Array.from({ length: 64 }, (_, at) => Math.fround(at / 7));

describe('on disk', () => {
  test.each([
    ['an integer beyond 2^53', int('9007199254740993'), { $int: '9007199254740993' }],
    ['the smallest integer', int('-9223372036854775808'), { $int: '-9223372036854775808' }],
    ['the float 1', 1, { $f: '1' }],
    ['a float with a fraction', 0.1, 0.1],
    ['the negative zero', -0, { $f: '-0' }],
    ['not a number', Number.NaN, { $f: 'NaN' }],
    ['an embedding', SINGLES, { $f32: expect.any(String) }],
    ['a long list of doubles', SINGLES.map((x) => x + 1e-12), { $f64: expect.any(String) }],
    ['an embedding with a hole', [...SINGLES, Number.NaN], { $f64: expect.any(String) }],
    ['an embedding with an infinity', [...SINGLES, Infinity], { $f64: expect.any(String) }],
    ['bytes', Int8Array.of(-1, 0, 1), { $b64: '/wAB' }],
    ['a map whose key looks like a tag', { $int: 'x' }, { $map: { $int: 'x' } }],
    [
      'the first of two half past twos',
      autumn(7200),
      { $dt: ['2024', '10', '27', '2', '30', '0', '1', '7200', 'Europe/Amsterdam'] },
    ],
    [
      'the second of two half past twos',
      autumn(3600),
      { $dt: ['2024', '10', '27', '2', '30', '0', '1', '3600', 'Europe/Amsterdam'] },
    ],
  ])('%s', (_, value, written) => {
    expect(encodeValue(value)).toEqual(written);
    expect(decodeValue(encodeValue(value))).toStrictEqual(value);
  });
});

describe('is refused by name when met in a graph', () => {
  class UnsupportedType {
    readonly name = 'HYPERLOGLOG';
  }

  test.each([
    ['a type the driver does not know', new UnsupportedType(), 'UnsupportedType HYPERLOGLOG'],
    ['a node', new Node(int(1), [], {}, 'a'), 'Node'],
    ['a JavaScript date', new Date(0), 'Date'],
    ['a bigint', 1n, 'bigint'],
    ['nothing at all', undefined, 'undefined'],
  ])('%s', (_, value, named) => {
    expect(() => encodeValue([value], 'node 7.embedding')).toThrow(
      expect.objectContaining({
        name: 'RefusedGraph',
        why: expect.stringMatching(new RegExp(`^node 7\\.embedding\\[0\\] .*: ${named}\\.$`)),
      }),
    );
  });

  test('what the driver itself could not read', () => {
    const broken = new Proxy({}, { getPrototypeOf: () => fail('Invalid time value') });
    expect(() => encodeValue({ at: broken }, 'node 7')).toThrow(
      'node 7.at is a value that the driver',
    );
  });

  test('a date-time without its offset, which would leave an hour of autumn open', () => {
    const parts = [2024, 10, 27, 2, 30, 0, 0] as const;
    const open = new DateTime(...parts, undefined, 'Europe/Amsterdam');
    expect(() => encodeValue(open)).toThrow('without its offset');
  });
});

describe('is refused when met in a file', () => {
  test.each([
    ['a bare integer', 1],
    ['an unknown tag', { $uuid: '1' }],
    ['a map without a tag', { name: 'x' }],
    ['two tags', { $int: '1', $f: '1' }],
    ['no tag', {}],
    ['an inherited name as a tag', JSON.parse('{"constructor":"1"}')],
    ['an integer beyond 64 bits', { $int: '9223372036854775808' }],
    ['an integer with a fraction', { $int: '1.5' }],
    ['an integer in another notation', { $int: '0x10' }],
    ['an integer that JSON has rounded', { $int: 9007199254740992 }],
    ['a float that needs no tag', { $f: '0.5' }],
    ['a float in another notation', { $f: '1.0' }],
    ['a truncated list of doubles', { $f64: 'AAAAAA==' }],
    ['text that is not base64', { $b64: '*' }],
    ['the thirtieth of February', { $date: ['2024', '2', '30'] }],
    ['a leap day of a common year', { $date: ['1900', '2', '29'] }],
    ['the hour 24', { $ltime: ['24', '0', '0', '0'] }],
    ['a date-time without offset or zone', { $dt: ['2024', '1', '1', '0', '0', '0', '0'] }],
    ['a duration of three parts', { $dur: ['1', '2', '3'] }],
    ['a point on a line', { $pt: ['7203', '1'] }],
    ['a vector of unknown elements', { $vec: ['FLOAT16', ''] }],
    ['a vector of an inherited name', { $vec: ['constructor', ''] }],
    ['something wrong deep inside', [{ $map: { deep: [[7]] } }]],
  ])('%s', (_, value) => {
    expect(() => parseTagged(value)).toThrow(expect.objectContaining({ name: 'RefusedGraph' }));
  });

  test('with the place where it stands', () => {
    expect(() => parseTagged([{ $map: { deep: [[7]] } }], 'node 7.a')).toThrow(
      'node 7.a[0].deep[0][0]',
    );
  });
});

function autumn(offsetSeconds: number): DateTime {
  const parts = [2024, 10, 27, 2, 30, 0, 1].map((part) => int(part));
  const [year = int(0), month = year, day = year, hour = year, minute = year] = parts;
  return new DateTime(
    year,
    month,
    day,
    hour,
    minute,
    int(0),
    int(1),
    int(offsetSeconds),
    'Europe/Amsterdam',
  );
}

function fail(message: string): never {
  throw new RangeError(message);
}
