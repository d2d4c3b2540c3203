// Numbers in base64, as this machine lays them out: little-endian on every one that Node runs on.
import type { VectorElement } from './tagged-values.ts';

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
