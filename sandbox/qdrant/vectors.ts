// Reads the vectors of a point from JSON into 32-bit floats, and writes them in Qdrant's form.
import type { Schemas } from '@qdrant/js-client-rest';
import { scanJson } from '../../lib/migration/json/json-scanner.ts';
import { encodeBm25, type SparseVector } from './bm25.ts';
import { formatFloat32List } from './float32-text.ts';
import { internal, invalid, malformed, noVector, wrongInput } from './refusal.ts';
import { hasFeature } from './versions.ts';

/** The unnamed dense vector and the named sparse vectors of a point: the layout of mem0's collections. */
export interface Vectors {
  readonly dense: Float32Array | undefined;
  readonly sparse: ReadonlyMap<string, SparseVector> | undefined;
}

interface VectorLayout {
  readonly version: string;
  readonly params: Schemas['CollectionParams'];
}

// Cosine collections store unit vectors; a vector whose squared length is this close to 1 is not changed.
const UNIT_TOLERANCE = 1e-6;

export function readVectors(text: string, layout: VectorLayout): Vectors {
  if (text.startsWith('[')) return { dense: readDense(text, layout.params), sparse: undefined };
  let dense: Float32Array | undefined;
  const sparse = new Map<string, SparseVector>();
  const scanner = scanJson(text);
  for (const name of scanner.members()) {
    const value = scanner.text();
    if (name === '') dense = readDense(value, layout.params);
    else sparse.set(name, readSparse(name, value, layout));
  }
  return { dense, sparse: sparse.size > 0 ? sparse : undefined };
}

export function removeSlots<Point extends Vectors>(
  point: Point,
  names: ReadonlySet<string>,
): Point {
  const remaining = [...(point.sparse ?? [])].filter(([name]) => !names.has(name));
  return { ...point, sparse: remaining.length > 0 ? new Map(remaining) : undefined };
}

/** @param wanted `true` for all vectors, or the names of some */
export function formatVectors(
  { dense, sparse }: Vectors,
  wanted: true | readonly string[],
): string {
  const isWanted = (name: string) => wanted === true || wanted.includes(name);
  const chosen = [...(sparse ?? [])].filter(([name]) => isWanted(name));
  const denseText = dense && isWanted('') ? formatFloat32List(dense) : undefined;
  if (chosen.length === 0 && denseText !== undefined) return denseText;
  const members = chosen.map(([name, vector]) => `${JSON.stringify(name)}:${formatSparse(vector)}`);
  if (denseText !== undefined) members.push(`"":${denseText}`);
  return `{${alternateOrder(members).join(',')}}`;
}

let isReversed = false;

// Changes the order at each call, because a real server's order of names also changes from one response to the next.
function alternateOrder(members: readonly string[]): readonly string[] {
  isReversed = !isReversed;
  return isReversed ? members.toReversed() : members;
}

// Returns the indices in the opposite of the stored order. Qdrant leaves the order unspecified, so no caller may rely on it.
function formatSparse({ indices, values }: SparseVector): string {
  const reversedIndices = `[${indices.toReversed().join(',')}]`;
  return `{"indices":${reversedIndices},"values":${formatFloat32List(values.toReversed())}}`;
}

function readDense(text: string, params: Schemas['CollectionParams']): Float32Array {
  const unnamed = params.vectors as Schemas['VectorParams'] | undefined;
  if (typeof unnamed?.size !== 'number') throw noVector('');
  const numbers: unknown = JSON.parse(text);
  if (!Array.isArray(numbers) || numbers.includes(null)) {
    throw malformed('a dense vector is a list of numbers');
  }
  const vector = Float32Array.from(numbers as number[]);
  if (vector.length !== unnamed.size) {
    throw wrongInput(`Vector dimension error: expected dim: ${unnamed.size}, got ${vector.length}`);
  }
  if (unnamed.datatype === 'uint8') return vector.map((value) => Math.trunc(value));
  const stored = unnamed.distance === 'Cosine' ? normalise(vector) : vector;
  return unnamed.datatype === 'float16' ? stored.map(toFloat16) : stored;
}

const FRACTION_BITS = 10;
const MIN_EXPONENT = -14;

/**
 * Rounds to the nearest 16-bit float. A rounded unit vector is only nearly a unit vector, so writing it again normalises it
 * again.
 */
function toFloat16(value: number): number {
  if (value === 0) return 0;
  const exponent = Math.max(Math.floor(Math.log2(Math.abs(value))), MIN_EXPONENT);
  const step = 2 ** (exponent - FRACTION_BITS);
  return Math.round(value / step) * step;
}

export function normalise(vector: Float32Array): Float32Array {
  const squared = vector.reduce((sum, value) => sum + value * value, 0);
  if (squared === 0 || Math.abs(squared - 1) <= UNIT_TOLERANCE) return vector;
  const length = Math.sqrt(squared);
  return vector.map((value) => value / length);
}

export function readSparse(
  name: string,
  text: string,
  { version, params }: VectorLayout,
): SparseVector {
  if (!params.sparse_vectors?.[name]) throw noVector(name);
  const value = JSON.parse(text) as Partial<Schemas['SparseVector'] & Schemas['Document']>;
  if (value.text !== undefined) return encodeDocument(value, version);
  const { indices = [], values = [] } = value;
  if (indices.length !== values.length) {
    throw invalid('indices', 'must be the same length as values');
  }
  const positions = indices.map((_, n) => n).sort((a, b) => (indices[a] ?? 0) - (indices[b] ?? 0));
  return {
    indices: Uint32Array.from(positions, (n) => indices[n] ?? 0),
    values: Float32Array.from(positions, (n) => values[n] ?? 0),
  };
}

function encodeDocument({ text = '', model = '' }: Partial<Schemas['Document']>, version: string) {
  if (!hasFeature(version, 'inference')) throw internal('InferenceService is not initialized');
  if (!/^(qdrant\/)?bm25$/i.test(model)) throw wrongInput(`Unsupported model: ${model}`);
  return encodeBm25(text);
}
