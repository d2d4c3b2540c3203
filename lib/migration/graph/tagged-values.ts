// Values of a graph as JSON that loses nothing: what JSON cannot tell apart carries a tag of its own.
import { Refusal } from '../refusals.ts';

const DATE = ['year', 'month', 'day'] as const;
const TIME = ['hour', 'minute', 'second', 'nanosecond'] as const;

/** The components of each temporal type, as the driver names them. */
export const TEMPORAL_FIELDS = {
  $date: DATE,
  /** A time of day without an offset. */
  $ltime: TIME,
  $time: [...TIME, 'timeZoneOffsetSeconds'],
  /** A date and time without a zone. */
  $ldt: [...DATE, ...TIME],
  /** The offset stands beside the zone because the zone alone leaves the repeated hour of autumn open. */
  $dt: [...DATE, ...TIME, 'timeZoneOffsetSeconds', 'timeZoneId'],
  $dur: ['months', 'days', 'seconds', 'nanoseconds'],
} as const;

export type TemporalTag = keyof typeof TEMPORAL_FIELDS;

/** Integers in decimal, in the order of the fields; of a zone its name, or null. */
type Components = readonly (string | null)[];

/** What stands behind each tag. All binary content is base64 of little-endian elements. */
export interface TagContents {
  /** A 64-bit integer in decimal. */
  readonly $int: string;
  /** A float that JSON would turn into an integer or into null: 1, -0, NaN, Infinity, -Infinity. */
  readonly $f: string;
  /** A long list of floats, all of which are exactly single precision, as embeddings are. */
  readonly $f32: string;
  /** A long list of floats that need double precision. */
  readonly $f64: string;
  readonly $date: Components;
  readonly $ltime: Components;
  readonly $time: Components;
  readonly $ldt: Components;
  readonly $dt: Components;
  readonly $dur: Components;
  /** The reference system, then two or three coordinates. */
  readonly $pt: readonly string[];
  readonly $b64: string;
  /** The type of the elements, then the elements. */
  readonly $vec: readonly [VectorElement, string];
  readonly $map: { readonly [key: string]: TaggedValue };
}

export type Tag = keyof TagContents;
export type Tagged<T extends Tag = Tag> = { [K in T]: { readonly [_ in K]: TagContents[K] } }[T];

/** A bare number is a float with a fraction. */
export type TaggedValue = null | boolean | string | number | readonly TaggedValue[] | Tagged;

export type Properties = Readonly<Record<string, TaggedValue>>;

export const VECTOR_ELEMENT_BYTES = {
  INT8: 1,
  INT16: 2,
  INT32: 4,
  INT64: 8,
  FLOAT32: 4,
  FLOAT64: 8,
} as const;
export type VectorElement = keyof typeof VECTOR_ELEMENT_BYTES;

/** From this length on, a list of floats is written in binary. */
export const LONG_LIST = 64;

const SMALLEST_INTEGER = -(2n ** 63n);
const LARGEST_INTEGER = 2n ** 63n - 1n;

/** For a value that a dump cannot hold, or a line that no dump of ours wrote. */
export function invalidValue(why: string, options?: ErrorOptions): Refusal {
  return new Refusal('RefusedGraph', `${why}.`, options);
}

/** The one tag of an object, with what stands behind it. */
export function tagOf(value: Tagged): readonly [Tag, unknown] {
  const [entry] = Object.entries(value);
  if (!entry) throw invalidValue('An object without a tag is no value of a graph');
  return entry as [Tag, unknown];
}

/** The shortest text that reads back as the very same double, with the sign of zero. */
export function floatText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

export function taggedFloat(value: number): TaggedValue {
  return Number.isFinite(value) && !Number.isInteger(value) ? value : { $f: floatText(value) };
}

/**
 * Takes parsed JSON for a tagged value after looking at every part of it.
 * @throws Refusal naming what is wrong and where
 */
export function parseTagged(value: unknown, path = 'value'): TaggedValue {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return parseNumber(value, path);
  if (Array.isArray(value)) return value.map((item, at) => parseTagged(item, `${path}[${at}]`));
  return parseTag(value as object, path);
}

export function parseProperties(value: unknown, path: string): Properties {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidValue(`${path} is no map of properties`);
  }
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, item]) => [key, parseTagged(item, `${path}.${key}`)]),
  );
}

function parseNumber(value: number, path: string): number {
  if (Number.isInteger(value)) {
    throw invalidValue(`${path} is the bare number ${value}: integer or float?`);
  }
  return value;
}

function parseTag(value: object, path: string): Tagged {
  const entries = Object.entries(value);
  const [tag, content] = entries[0] ?? ['none', undefined];
  if (entries.length !== 1 || !isTag(tag)) {
    throw invalidValue(`${path} carries no tag known here: ${Object.keys(value).join(', ')}`);
  }
  if (tag === '$map') return { $map: parseProperties(content, path) };
  if (!CHECKS[tag](content)) throw invalidValue(`${path} is no ${tag}`);
  return value as Tagged;
}

function isTag(text: string): text is Tag {
  return text === '$map' || Object.hasOwn(CHECKS, text);
}

const CHECKS: Record<Exclude<Tag, '$map'>, (content: unknown) => boolean> = {
  $int: isIntegerText,
  $f: (content) => isFloatText(content) && !(Number(content) % 1),
  $f32: (content) => isBinary(content, 4),
  $f64: (content) => isBinary(content, 8),
  $date: (content) => isTemporal(content, '$date'),
  $ltime: (content) => isTemporal(content, '$ltime'),
  $time: (content) => isTemporal(content, '$time'),
  $ldt: (content) => isTemporal(content, '$ldt'),
  $dt: (content) => isTemporal(content, '$dt'),
  $dur: (content) => isTemporal(content, '$dur'),
  $pt: (content) => isListOf(content, isFloatText, 3, 4),
  $b64: (content) => isBinary(content, 1),
  $vec: isVector,
};

function isIntegerText(content: unknown): boolean {
  if (typeof content !== 'string' || !/^(?:0|-?[1-9]\d{0,18})$/.test(content)) return false;
  return BigInt(content) >= SMALLEST_INTEGER && BigInt(content) <= LARGEST_INTEGER;
}

function isFloatText(content: unknown): boolean {
  return typeof content === 'string' && floatText(Number(content)) === content;
}

function isBinary(content: unknown, elementBytes: number): boolean {
  if (typeof content !== 'string') return false;
  const bytes = Buffer.from(content, 'base64');
  return bytes.length % elementBytes === 0 && bytes.toString('base64') === content;
}

function isVector(content: unknown): boolean {
  const [element, data, ...rest] = Array.isArray(content) ? content : [];
  if (rest.length > 0 || !Object.hasOwn(VECTOR_ELEMENT_BYTES, element)) return false;
  return isBinary(data, VECTOR_ELEMENT_BYTES[element as VectorElement]);
}

function isListOf(
  content: unknown,
  isItem: (item: unknown) => boolean,
  shortest: number,
  longest: number,
): boolean {
  if (!Array.isArray(content) || content.length < shortest || content.length > longest)
    return false;
  return content.every(isItem);
}

const RANGES: Readonly<Record<string, readonly [number, number]>> = {
  year: [-999_999_999, 999_999_999],
  month: [1, 12],
  day: [1, 31],
  hour: [0, 23],
  minute: [0, 59],
  second: [0, 59],
  nanosecond: [0, 999_999_999],
  timeZoneOffsetSeconds: [-64_800, 64_800],
};

function isTemporal(content: unknown, tag: TemporalTag): boolean {
  const fields: readonly string[] = TEMPORAL_FIELDS[tag];
  if (!Array.isArray(content) || content.length !== fields.length) return false;
  return (
    fields.every((field, at) => isComponent(field, content[at])) && isOfCalendar(content, fields)
  );
}

function isComponent(field: string, value: unknown): boolean {
  if (field === 'timeZoneId') return value === null || isZone(value);
  if (!isIntegerText(value)) return false;
  const [least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY] = RANGES[field] ?? [];
  return Number(value) >= least && Number(value) <= most;
}

function isOfCalendar(content: readonly unknown[], fields: readonly string[]): boolean {
  if (fields[0] !== 'year') return true;
  const [year = 0, month = 0, day = 0] = content.map(Number);
  // The calendar repeats itself every 400 years, and JavaScript's own ends long before the graph's.
  return day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}

const knownZones = new Set<unknown>();

function isZone(zone: unknown): boolean {
  if (typeof zone !== 'string' || knownZones.has(zone)) return typeof zone === 'string';
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
  } catch {
    return false;
  }
  knownZones.add(zone);
  return true;
}
