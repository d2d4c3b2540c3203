// Values as the Neo4j driver has them, to tagged values and back.
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
import {
  floatText,
  invalidValue,
  LONG_LIST,
  type Properties,
  type Tag,
  type TagContents,
  type Tagged,
  type TaggedValue,
  TEMPORAL_FIELDS,
  type TemporalTag,
  taggedFloat,
  tagOf,
  type VectorElement,
} from '../graph/tagged-values.ts';
import { Refusal } from '../refusals.ts';

/** @throws Refusal naming the type that a dump cannot hold, and where it was met */
export function encodeValue(value: unknown, path = 'value'): TaggedValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return taggedFloat(value);
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
  const [tag, content] = tagOf(value);
  return (DECODERS[tag] as (content: unknown) => unknown)(content);
}

export function decodeProperties(properties: Properties): Record<string, unknown> {
  const entries = Object.entries(properties);
  return Object.fromEntries(entries.map(([key, value]) => [key, decodeValue(value)]));
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
    ? { $f32: elementsToBase64(Float32Array.from(floats)) }
    : { $f64: elementsToBase64(Float64Array.from(floats)) };
}

function encodeObject(value: object, path: string): Tagged {
  if (value instanceof Integer) return { $int: value.toString() };
  if (value instanceof Int8Array) return { $b64: elementsToBase64(value) };
  if (value instanceof Point) return { $pt: pointTexts(value) };
  if (value instanceof Vector) {
    return { $vec: [value.getType(), elementsToBase64(value.asTypedArray())] };
  }
  const temporal = encodeTemporal(value);
  if (temporal) return temporal;
  if (isPlainMap(value)) return { $map: encodeProperties(value, path) };
  throw invalidValue(`${path} is of a type that a dump cannot hold: ${typeName(value)}`);
}

const TEMPORALS = {
  $date: Day,
  $ltime: LocalTime,
  $time: Time,
  $ldt: LocalDateTime,
  $dt: DateTime,
  $dur: Duration,
} as const satisfies Record<TemporalTag, unknown>;

const TEMPORAL_TAGS = Object.keys(TEMPORALS) as TemporalTag[];

/** Undefined for what is neither a date nor a time nor a duration. */
function encodeTemporal(value: object): Tagged | undefined {
  const tag = TEMPORAL_TAGS.find((tag) => value instanceof TEMPORALS[tag]);
  if (!tag) return undefined;
  const components = TEMPORAL_FIELDS[tag].map((field) => {
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
  const Temporal = TEMPORALS[tag] as new (...components: unknown[]) => object;
  return (components: TagContents[TemporalTag]) =>
    new Temporal(
      ...components.map((component, at) =>
        TEMPORAL_FIELDS[tag][at] === 'timeZoneId' ? component : int(component ?? ''),
      ),
    );
}

function pointTexts({ srid, x, y, z }: Point): string[] {
  return [`${srid}`, floatText(x), floatText(y), ...(z === undefined ? [] : [floatText(z)])];
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
  $f32: (text) => [...elementsFromBase64('FLOAT32', text)],
  $f64: (text) => [...elementsFromBase64('FLOAT64', text)],
  $pt: ([srid = '', ...coordinates]) => {
    const [x = Number.NaN, y = Number.NaN, z] = coordinates.map(Number);
    return z === undefined ? new Point(int(srid), x, y) : new Point(int(srid), x, y, z);
  },
  $b64: (text) => elementsFromBase64('INT8', text),
  $vec: ([element, text]) => new Vector(elementsFromBase64(element, text)),
  $map: decodeProperties,
};

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

export type Elements =
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Float32Array
  | Float64Array;

const ARRAYS = {
  INT8: Int8Array,
  INT16: Int16Array,
  INT32: Int32Array,
  INT64: BigInt64Array,
  FLOAT32: Float32Array,
  FLOAT64: Float64Array,
} as const satisfies Record<VectorElement, unknown>;

export function elementsToBase64({ buffer, byteOffset, byteLength }: Elements): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

export function elementsFromBase64<Element extends VectorElement>(
  element: Element,
  text: string,
): InstanceType<(typeof ARRAYS)[Element]> {
  // A copy: a pooled buffer may start where wider elements cannot.
  const { buffer } = Uint8Array.from(Buffer.from(text, 'base64'));
  return new ARRAYS[element](buffer) as InstanceType<(typeof ARRAYS)[Element]>;
}
