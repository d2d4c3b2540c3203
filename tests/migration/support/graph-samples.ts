// A small graph with every kind of content that a dump or a restore could lose.
import type {
  GraphNode,
  GraphRelationship,
  SchemaRule,
} from '../../../lib/migration/graph/graph-store.ts';
import type { Properties, TaggedValue } from '../../../lib/migration/graph/values.ts';

/** A value of every type that a property can have, and the edge cases of the types */
export const EVERY_TYPE: Properties = {
  text: 'naïve \u2028 \u0000 "quoted" \\ 🧾',
  empty: '',
  yes: true,
  one: { $int: '1' },
  'beyond 2^53': { $int: '9007199254740993' },
  smallest: { $int: '-9223372036854775808' },
  largest: { $int: '9223372036854775807' },
  floatOne: { $f: '1' },
  fraction: 0.1,
  tiny: 5e-324,
  huge: { $f: '1.7976931348623157e+308' },
  minusZero: { $f: '-0' },
  notANumber: { $f: 'NaN' },
  infinite: { $f: 'Infinity' },
  minusInfinite: { $f: '-Infinity' },
  date: { $date: ['2024', '2', '29'] },
  farDate: { $date: ['999999999', '12', '31'] },
  longAgo: { $date: ['-44', '3', '15'] },
  localTime: { $ltime: ['23', '59', '59', '999999999'] },
  time: { $time: ['10', '11', '12', '1', '19800'] },
  localDateTime: { $ldt: ['2024', '10', '27', '2', '30', '0', '0'] },
  offsetDateTime: { $dt: ['2024', '10', '27', '2', '30', '0', '1', '-64800', null] },
  firstHalfPastTwo: { $dt: ['2024', '10', '27', '2', '30', '0', '0', '7200', 'Europe/Amsterdam'] },
  secondHalfPastTwo: { $dt: ['2024', '10', '27', '2', '30', '0', '0', '3600', 'Europe/Amsterdam'] },
  beforeStandardTime: { $dt: ['1800', '1', '1', '0', '0', '0', '0', '1050', 'Europe/Amsterdam'] },
  duration: { $dur: ['14', '3', '14706', '7'] },
  negativeDuration: { $dur: ['-1', '0', '-2', '999999995'] },
  place: { $pt: ['4326', '4.9', '52.37'] },
  placeAbove: { $pt: ['4979', '4.9', '52.37', '-2'] },
  flat: { $pt: ['7203', '1', '-0'] },
  spatial: { $pt: ['9157', '1', '2.5', '3'] },
  bytes: { $b64: 'AP+AAQ==' },
  noBytes: { $b64: '' },
  emptyList: [],
  integers: [{ $int: '1' }, { $int: '-1' }],
  floats: [{ $f: '1' }, 0.5],
  texts: ['a', ''],
  flags: [true, false],
  dates: [{ $date: ['2024', '1', '1'] }, { $date: ['1', '1', '1'] }],
  hours: [
    { $dt: ['2024', '10', '27', '2', '30', '0', '0', '7200', 'Europe/Amsterdam'] },
    { $dt: ['2024', '10', '27', '2', '30', '0', '0', '3600', 'Europe/Amsterdam'] },
  ],
  durations: [{ $dur: ['1', '0', '0', '0'] }],
  places: [{ $pt: ['4326', '0', '0'] }],
  embedding: { $f32: base64(Float32Array.from({ length: 384 }, (_, at) => Math.sin(at))) },
  doubles: { $f64: base64(Float64Array.from({ length: 64 }, (_, at) => Math.sin(at))) },
  longIntegers: Array.from({ length: 100 }, (_, at): TaggedValue => ({ $int: `${at}` })),
  __proto: 'almost',
  'a name with `back-ticks` and \\u0060': { $int: '7' },
};

const PERSON = { name: 'Grace', user_id: 'alice', created: { $int: '1730000000000' } };

export const SAMPLE_NODES: readonly GraphNode[] = [
  { id: 'a', labels: ['__Entity__', 'person'], properties: { ...PERSON, ...EVERY_TYPE } },
  { id: 'b', labels: ['city'], properties: { name: 'Amsterdam', user_id: 'alice' } },
  { id: 'c', labels: ['back`tick', 'slash\\u0060', 'constructor'], properties: { user_id: 'bob' } },
  { id: 'd', labels: [], properties: { user_id: { $int: '7' } } },
  { id: 'e', labels: ['city'], properties: JSON.parse('{"__proto__":"own","constructor":"own"}') },
  // Two nodes with equal content must stay two nodes.
  { id: 'f', labels: ['equal'], properties: { user_id: 'constructor' } },
  { id: 'g', labels: ['equal'], properties: { user_id: 'constructor' } },
];

export const SAMPLE_RELATIONSHIPS: readonly GraphRelationship[] = [
  edge('1', 'lives in', 'a', 'b', { valid: true, ...EVERY_TYPE }),
  edge('2', 'lives in', 'a', 'b', {
    valid: false,
    invalidated_at: { $dt: ['2024', '10', '27', '2', '30', '0', '0', '0', null] },
  }),
  // Two equal relationships between the same nodes, and one in the opposite direction.
  edge('3', 'knows', 'a', 'c', {}),
  edge('4', 'knows', 'a', 'c', {}),
  edge('5', 'knows', 'c', 'a', {}),
  edge('6', 'is `itself`\\u0060', 'd', 'd', { mentions: { $int: '3' } }),
  edge('7', 'equal to', 'f', 'g', {}),
];

export const SAMPLE_SCHEMA: readonly SchemaRule[] = [
  {
    name: 'unique_code',
    type: 'UNIQUENESS',
    statement: 'CREATE CONSTRAINT `unique_code` FOR (n:`city`) REQUIRE (n.`code`) IS UNIQUE',
  },
  {
    name: 'entity_single',
    type: 'RANGE',
    statement: 'CREATE RANGE INDEX `entity_single` FOR (n:`__Entity__`) ON (n.`user_id`)',
  },
];

function edge(id: string, type: string, start: string, end: string, properties: Properties) {
  return { id, type, start, end, properties };
}

function base64({ buffer }: Float32Array | Float64Array): string {
  return Buffer.from(buffer).toString('base64');
}
