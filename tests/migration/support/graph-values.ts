// Generates every kind of value that a graph can hold, as the driver represents it: edge cases and ordinary values mixed.
import fc from 'fast-check';
import {
  DateTime,
  Date as Day,
  Duration,
  int,
  LocalDateTime,
  LocalTime,
  Point,
  Time,
  Vector,
} from 'neo4j-driver';
import { anyText } from '../../shared/support/any-text.ts';

const MAX_YEAR = 999_999_999;
const EDGE_YEARS = [-MAX_YEAR, -1, 0, 1, 1582, 1900, 9999, 10_000, MAX_YEAR];
const EIGHTEEN_HOURS = 64_800;

export const anyInteger = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(int);
/** Includes NaN, the infinities and negative zero. */
export const anyFloat = fc.double();

const year = fc.oneof(fc.constantFrom(...EDGE_YEARS), fc.integer({ min: 1970, max: 2100 }));
const date = fc.tuple(year, integerBetween(1, 12), integerBetween(1, 28));
const time = fc.tuple(
  integerBetween(0, 23),
  integerBetween(0, 59),
  integerBetween(0, 59),
  integerBetween(0, 999_999_999),
);
const offset = integerBetween(-EIGHTEEN_HOURS, EIGHTEEN_HOURS);
const zone = fc.constantFrom('Europe/Amsterdam', 'America/Port-au-Prince', 'Etc/GMT+1', null);

export const anyScalar = fc.oneof(
  fc.boolean(),
  anyText(),
  anyInteger,
  anyFloat,
  date.map(([y, m, d]) => new Day(int(y), int(m), int(d))),
  time.map((parts) => new LocalTime(...asIntegers(parts))),
  fc.tuple(time, offset).map(([parts, east]) => new Time(...asIntegers(parts), int(east))),
  fc.tuple(date, time).map(([day, at]) => new LocalDateTime(...asIntegers(day), ...asIntegers(at))),
  fc
    .tuple(date, time, offset, zone)
    .map(
      ([day, at, east, name]) =>
        new DateTime(...asIntegers(day), ...asIntegers(at), int(east), name),
    ),
  fc
    .tuple(anyInteger, anyInteger, anyInteger, integerBetween(0, 999_999_999))
    .map(([months, days, seconds, nanos]) => new Duration(months, days, seconds, int(nanos))),
  fc
    .tuple(fc.constantFrom(4326, 7203), anyFloat, anyFloat)
    .map(([s, x, y]) => new Point(int(s), x, y)),
  fc
    .tuple(fc.constantFrom(4979, 9157), anyFloat, anyFloat, anyFloat)
    .map(([s, x, y, z]) => new Point(int(s), x, y, z)),
  fc.int8Array(),
);

export const anyVector = fc
  .oneof(
    fc.float32Array(),
    fc.float64Array(),
    fc.int8Array(),
    fc.int16Array(),
    fc.int32Array(),
    fc.bigInt64Array(),
  )
  .map((elements) => new Vector(elements));

/** Lists around the length from which a list is written in binary */
export const anyEmbedding = fc.oneof(
  fc.array(fc.float(), { minLength: 60, maxLength: 70 }),
  fc.array(anyFloat, { minLength: 60, maxLength: 70 }),
);

export const anyGraphValue = fc.letrec<{ value: unknown; list: unknown[] }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    anyScalar,
    fc.constant(null),
    anyVector,
    anyEmbedding,
    tie('list'),
  ),
  list: fc.array(tie('value'), { maxLength: 4 }),
})).value;

function integerBetween(min: number, max: number) {
  return fc.integer({ min, max });
}

function asIntegers<Parts extends readonly number[]>(parts: Parts) {
  return parts.map((part) => int(part)) as { [At in keyof Parts]: ReturnType<typeof int> };
}
