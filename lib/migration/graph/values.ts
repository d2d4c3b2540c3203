// Converts the Neo4j driver's values to JSON without loss, and back. Values that JSON cannot distinguish have a tag.
import {
  DateTime,
  Date as Day,
  Duration,
  Integer,
  int,
  LocalDateTime,
  LocalTime,
  Point,
  Time,
  Vector,
} from 'neo4j-driver';
import { Refusal } from '../refusals.ts';

/** A tag and its content. Binary content is base64 of little-endian elements. */
type Tagged = { readonly [tag: `$${string}`]: string | readonly (string | null)[] };

/** An untagged number is a float with a fraction. */
export type TaggedValue = null | boolean | string | number | readonly TaggedValue[] | Tagged;

export type Properties = { readonly [key: string]: TaggedValue };

const ARRAY_TYPES = {
  INT8: Int8Array,
  INT16: Int16Array,
  INT32: Int32Array,
  INT64: BigInt64Array,
  FLOAT32: Float32Array,
  FLOAT64: Float64Array,
} as const;

type VectorElement = keyof typeof ARRAY_TYPES;

interface Codec {
  /** The driver's class for such values */
  readonly type: abstract new (
    ...values: never[]
  ) => object;
  readonly encode: (value: never) => Tagged[`$${string}`];
  readonly decode: (content: never) => unknown;
}

const DATE_FIELDS = ['year', 'month', 'day'];
const TIME_FIELDS = ['hour', 'minute', 'second', 'nanosecond'];
const OFFSET = 'timeZoneOffsetSeconds';

/** Codecs for the driver's types, by tag */
const CODECS: Readonly<Record<`$${string}`, Codec>> = {
  /** A 64-bit integer in decimal */
  $int: { type: Integer, encode: (value: Integer) => value.toString(), decode: int },
  $b64: { type: Int8Array, encode: toBase64, decode: (text: string) => fromBase64('INT8', text) },
  /** The id of the reference system, then two or three coordinates */
  $pt: {
    type: Point,
    encode: ({ srid, x, y, z }: Point) => [
      `${srid}`,
      ...[x, y, ...(z === undefined ? [] : [z])].map(formatFloat),
    ],
    decode: ([srid = '', ...coordinates]: readonly string[]) => {
      const [x = Number.NaN, y = Number.NaN, z] = coordinates.map(Number);
      return z === undefined ? new Point(int(srid), x, y) : new Point(int(srid), x, y, z);
    },
  },
  /** The type of the elements, then the elements */
  $vec: {
    type: Vector,
    encode: (value: Vector<Float32Array>) => [value.getType(), toBase64(value.asTypedArray())],
    decode: ([element, text]: readonly [VectorElement, string]) =>
      new Vector(fromBase64(element, text)),
  },
  $date: createTemporalCodec(Day, DATE_FIELDS),
  /** A time of day without an offset */
  $ltime: createTemporalCodec(LocalTime, TIME_FIELDS),
  $time: createTemporalCodec(Time, [...TIME_FIELDS, OFFSET]),
  /** A date and time without a zone */
  $ldt: createTemporalCodec(LocalDateTime, [...DATE_FIELDS, ...TIME_FIELDS]),
  /** Has both zone and offset: the zone alone is ambiguous in the hour that repeats when summer time ends. */
  $dt: createTemporalCodec(DateTime, [...DATE_FIELDS, ...TIME_FIELDS, OFFSET, 'timeZoneId']),
  $dur: createTemporalCodec(Duration, ['months', 'days', 'seconds', 'nanoseconds']),
};

/** Encodes the components in order: integers in decimal; a zone by its name, or null. */
function createTemporalCodec(type: Codec['type'], components: readonly string[]): Codec {
  const Temporal = type as new (...values: unknown[]) => object;
  return {
    type,
    encode: (value: Readonly<Record<string, unknown>>) =>
      components.map((name) => {
        const component = value[name] ?? null;
        // Servers before version 5 send no offset: times in the hour that repeats when summer time ends would be ambiguous.
        if (component === null && name === OFFSET) {
          throw refuseValue('The server returned a date-time without its offset from UTC');
        }
        return component === null ? null : String(component);
      }),
    decode: (texts: readonly (string | null)[]) =>
      new Temporal(
        ...texts.map((text, index) =>
          components[index] === 'timeZoneId' ? text : int(text ?? ''),
        ),
      ),
  };
}

const CODEC_ENTRIES = Object.entries(CODECS);

const DECODERS = new Map<string, (content: never) => unknown>([
  ...CODEC_ENTRIES.map(([tag, { decode }]) => [tag, decode] as const),
  /** A float that JSON would turn into an integer or into null: 1, -0, NaN, Infinity, -Infinity. */
  ['$f', Number],
  /** A long list of floats that are all exactly single precision, as embeddings are. */
  ['$f32', (text: string) => [...fromBase64('FLOAT32', text)]],
  /** A long list of floats that need double precision. */
  ['$f64', (text: string) => [...fromBase64('FLOAT64', text)]],
]);

/** Lists of at least this many floats are written in binary. */
const MIN_BINARY_LENGTH = 64;

/** @throws Refusal naming the type that a dump cannot represent, and its path */
export function encodeValue(value: unknown, path = 'value'): TaggedValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return encodeFloat(value);
  if (Array.isArray(value)) return encodeList(value, path);
  if (typeof value === 'object') return encodeReadable(() => encodeObject(value, path), path);
  throw refuseValue(`${path} is of a type unknown to graphs: ${typeof value}`);
}

export function encodeProperties(properties: object, path: string): Properties {
  const entries = Object.entries(properties);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, encodeValue(value, `${path}.${key}`)]),
  );
}

export function decodeValue(value: TaggedValue): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map(decodeValue);
  const [[tag = '', content] = []] = Object.entries(value);
  const decode = DECODERS.get(tag);
  if (!decode) throw refuseValue('A value has no known tag');
  return decode(content as never);
}

export function decodeProperties(properties: Properties): Record<string, unknown> {
  const entries = Object.entries(properties);
  return Object.fromEntries(entries.map(([key, value]) => [key, decodeValue(value)]));
}

/** Creates the refusal of a value that a dump cannot represent. */
function refuseValue(why: string, options?: ErrorOptions): Refusal {
  return new Refusal('RefusedByService', `${why}.`, options);
}

// For values that it cannot convert, the driver returns objects that throw on access. Such values are zoned date-times beyond the
// year 275,760, where JavaScript's own dates end.
function encodeReadable(encode: () => Tagged, path: string): Tagged {
  try {
    return encode();
  } catch (cause) {
    if (cause instanceof Refusal) throw cause;
    throw refuseValue(`${path} is a value that the driver cannot read`, { cause });
  }
}

function encodeFloat(value: number): TaggedValue {
  return Number.isFinite(value) && !Number.isInteger(value) ? value : { $f: formatFloat(value) };
}

/** @returns the shortest text that parses to the same double, even to -0 */
function formatFloat(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

function encodeList(list: readonly unknown[], path: string): TaggedValue {
  if (list.length >= MIN_BINARY_LENGTH && list.every((item) => typeof item === 'number')) {
    return encodeFloats(list);
  }
  return list.map((item, index) => encodeValue(item, `${path}[${index}]`));
}

// Embeddings are computed in single precision. Lists with NaN or an infinity take the wider form, because they are no embeddings:
// the server's own procedure for embeddings refuses them.
function encodeFloats(floats: readonly number[]): Tagged {
  const isSinglePrecision = floats.every(
    (item) => Number.isFinite(item) && Math.fround(item) === item,
  );
  return isSinglePrecision
    ? { $f32: toBase64(Float32Array.from(floats)) }
    : { $f64: toBase64(Float64Array.from(floats)) };
}

function encodeObject(value: object, path: string): Tagged {
  const [tag, codec] = CODEC_ENTRIES.find(([, { type }]) => value instanceof type) ?? [];
  if (codec) return { [`${tag}`]: codec.encode(value as never) };
  throw refuseValue(`${path} is of a type that a dump cannot represent: ${nameType(value)}`);
}

// Uses the machine's byte order, which is little-endian on every platform that this code runs on.
function toBase64({ buffer, byteOffset, byteLength }: NodeJS.TypedArray): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

function fromBase64<Element extends VectorElement>(
  element: Element,
  text: string,
): InstanceType<(typeof ARRAY_TYPES)[Element]> {
  // The bytes are copied, because a pooled buffer may be misaligned for wider elements.
  const { buffer } = Uint8Array.from(Buffer.from(text, 'base64'));
  return new ARRAY_TYPES[element](buffer) as InstanceType<(typeof ARRAY_TYPES)[Element]>;
}

function isList(value: readonly TaggedValue[] | Tagged): value is readonly TaggedValue[] {
  return Array.isArray(value);
}

// The driver wraps a value of an unknown type in an object, with the server's name of the type.
function nameType(value: object): string {
  const kind = value.constructor?.name || 'unknown';
  return 'name' in value && typeof value.name === 'string' ? `${kind} ${value.name}` : kind;
}
