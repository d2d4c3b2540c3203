// Values of a graph, as the Neo4j driver has them, as JSON that loses nothing: what JSON cannot tell apart carries a tag.
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

const DATE = ['year', 'month', 'day'] as const;
const TIME = ['hour', 'minute', 'second', 'nanosecond'] as const;

/** Each temporal type with its components, as the driver names them. */
const TEMPORALS = {
  $date: [Day, DATE],
  /** A time of day without an offset. */
  $ltime: [LocalTime, TIME],
  $time: [Time, [...TIME, 'timeZoneOffsetSeconds']],
  /** A date and time without a zone. */
  $ldt: [LocalDateTime, [...DATE, ...TIME]],
  /** The offset stands beside the zone because the zone alone leaves the repeated hour of autumn open. */
  $dt: [DateTime, [...DATE, ...TIME, 'timeZoneOffsetSeconds', 'timeZoneId']],
  $dur: [Duration, ['months', 'days', 'seconds', 'nanoseconds']],
} as const;

type TemporalTag = keyof typeof TEMPORALS;

const TEMPORAL_TAGS = Object.keys(TEMPORALS) as TemporalTag[];

const ARRAYS = {
  INT8: Int8Array,
  INT16: Int16Array,
  INT32: Int32Array,
  INT64: BigInt64Array,
  FLOAT32: Float32Array,
  FLOAT64: Float64Array,
} as const;

type VectorElement = keyof typeof ARRAYS;

/** What stands behind each tag. All binary content is base64 of little-endian elements. */
type TagContents = {
  /** A 64-bit integer in decimal. */
  readonly $int: string;
  /** A float that JSON would turn into an integer or into null: 1, -0, NaN, Infinity, -Infinity. */
  readonly $f: string;
  /** A long list of floats, all of which are exactly single precision, as embeddings are. */
  readonly $f32: string;
  /** A long list of floats that need double precision. */
  readonly $f64: string;
  /** The reference system, then two or three coordinates. */
  readonly $pt: readonly string[];
  readonly $b64: string;
  /** The type of the elements, then the elements. */
  readonly $vec: readonly [VectorElement, string];
  readonly $map: Properties;
} & {
  /** Integers in decimal, in the order of the components; of a zone its name, or null. */
  readonly [Temporal in TemporalTag]: readonly (string | null)[];
};

type Tag = keyof TagContents;
type Tagged = { [T in Tag]: { readonly [_ in T]: TagContents[T] } }[Tag];

/** A bare number is a float with a fraction. */
export type TaggedValue = null | boolean | string | number | readonly TaggedValue[] | Tagged;

export type Properties = { readonly [key: string]: TaggedValue };

/** From this length on, a list of floats is written in binary. */
const LONG_LIST = 64;

/** @throws Refusal naming the type that a dump cannot hold, and where it was met */
export function encodeValue(value: unknown, path = 'value'): TaggedValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return encodeFloat(value);
  if (Array.isArray(value)) return encodeList(value, path);
  if (typeof value === 'object') return readable(() => encodeObject(value, path), path);
  throw invalidValue(`${path} is of a type unknown to graphs: ${typeof value}`);
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
  const [[tag, content] = []] = Object.entries(value);
  if (tag === undefined || !isTag(tag)) throw invalidValue('A value carries no known tag');
  return (DECODERS[tag] as (content: unknown) => unknown)(content);
}

export function decodeProperties(properties: Properties): Record<string, unknown> {
  const entries = Object.entries(properties);
  return Object.fromEntries(entries.map(([key, value]) => [key, decodeValue(value)]));
}

/** For a value that a dump cannot hold. */
function invalidValue(why: string, options?: ErrorOptions): Refusal {
  return new Refusal('RefusedByService', `${why}.`, options);
}

// What the driver fails to put together, it hands over as an object that throws when it is looked at: zoned
// date-times beyond the year 275,760, where JavaScript's own dates end.
function readable(encode: () => Tagged, path: string): Tagged {
  try {
    return encode();
  } catch (cause) {
    if (cause instanceof Refusal) throw cause;
    throw invalidValue(`${path} is a value that the driver cannot read`, { cause });
  }
}

function encodeFloat(value: number): TaggedValue {
  return Number.isFinite(value) && !Number.isInteger(value) ? value : { $f: floatText(value) };
}

/** The shortest text that reads back as the very same double, with the sign of zero. */
function floatText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

function encodeList(list: readonly unknown[], path: string): TaggedValue {
  if (list.length >= LONG_LIST && list.every((item) => typeof item === 'number')) {
    return encodeFloats(list);
  }
  return list.map((item, at) => encodeValue(item, `${path}[${at}]`));
}

// Embeddings were computed in single precision. NaN and the infinities are left to the wider form: the server's
// own procedure for embeddings refuses them.
function encodeFloats(floats: readonly number[]): Tagged {
  const single = floats.every((item) => Number.isFinite(item) && Math.fround(item) === item);
  return single
    ? { $f32: toBase64(Float32Array.from(floats)) }
    : { $f64: toBase64(Float64Array.from(floats)) };
}

function encodeObject(value: object, path: string): Tagged {
  if (value instanceof Integer) return { $int: value.toString() };
  if (value instanceof Int8Array) return { $b64: toBase64(value) };
  if (value instanceof Point) {
    const { srid, x, y, z } = value;
    return { $pt: [`${srid}`, ...[x, y, ...(z === undefined ? [] : [z])].map(floatText)] };
  }
  if (value instanceof Vector) return { $vec: [value.getType(), toBase64(value.asTypedArray())] };
  const temporal = TEMPORAL_TAGS.find((tag) => value instanceof TEMPORALS[tag][0]);
  if (temporal) return encodeTemporal(temporal, value);
  if (isPlainMap(value)) return { $map: encodeProperties(value, path) };
  throw invalidValue(`${path} is of a type that a dump cannot hold: ${typeName(value)}`);
}

function encodeTemporal(tag: TemporalTag, value: object): Tagged {
  const components = TEMPORALS[tag][1].map((field) => {
    const component: unknown = (value as Record<string, unknown>)[field];
    // Servers before 5 speak a protocol without it: the repeated hour of autumn could be either one.
    if (component === undefined && field === 'timeZoneOffsetSeconds') {
      throw invalidValue('A date-time came without its offset from UTC');
    }
    return component === undefined || component === null ? null : String(component);
  });
  return { [tag]: components } as unknown as Tagged;
}

function decodeTemporal(tag: TemporalTag) {
  const [type, fields] = TEMPORALS[tag];
  const Temporal = type as new (...components: unknown[]) => object;
  return (components: TagContents[TemporalTag]) =>
    new Temporal(
      ...components.map((component, at) =>
        fields[at] === 'timeZoneId' ? component : int(component ?? ''),
      ),
    );
}

const DECODERS: { readonly [T in Tag]: (content: TagContents[T]) => unknown } = {
  $date: decodeTemporal('$date'),
  $ltime: decodeTemporal('$ltime'),
  $time: decodeTemporal('$time'),
  $ldt: decodeTemporal('$ldt'),
  $dt: decodeTemporal('$dt'),
  $dur: decodeTemporal('$dur'),
  $int: int,
  $f: Number,
  $f32: (text) => [...fromBase64('FLOAT32', text)],
  $f64: (text) => [...fromBase64('FLOAT64', text)],
  $pt: ([srid = '', ...coordinates]) => {
    const [x = Number.NaN, y = Number.NaN, z] = coordinates.map(Number);
    return z === undefined ? new Point(int(srid), x, y) : new Point(int(srid), x, y, z);
  },
  $b64: (text) => fromBase64('INT8', text),
  $vec: ([element, text]) => new Vector(fromBase64(element, text)),
  $map: decodeProperties,
};

function isTag(text: string): text is Tag {
  return Object.hasOwn(DECODERS, text);
}

// As this machine lays numbers out: little-endian on every one that Node runs on.
function toBase64({ buffer, byteOffset, byteLength }: NodeJS.TypedArray): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

function fromBase64<Element extends VectorElement>(
  element: Element,
  text: string,
): InstanceType<(typeof ARRAYS)[Element]> {
  // A copy: a pooled buffer may start where wider elements cannot.
  const { buffer } = Uint8Array.from(Buffer.from(text, 'base64'));
  return new ARRAYS[element](buffer) as InstanceType<(typeof ARRAYS)[Element]>;
}

function isList(value: readonly TaggedValue[] | Tagged): value is readonly TaggedValue[] {
  return Array.isArray(value);
}

function isPlainMap(value: object): boolean {
  return Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null;
}

// What the driver itself does not know it wraps, with the name the server gave it.
function typeName(value: object): string {
  const kind = value.constructor?.name || 'unknown';
  return 'name' in value && typeof value.name === 'string' ? `${kind} ${value.name}` : kind;
}
