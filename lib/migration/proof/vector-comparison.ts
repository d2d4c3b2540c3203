// Compares dense vectors: the store keeps 32-bit floats and may normalise, so a last bit may differ.
import { unnamedVectorOf } from '../copy/keyword-slot.ts';
import type { PointVector } from '../ports/vector-store.ts';

/** Largest difference of a component that is none. */
export const TOLERANCE = 1e-6;

/** The largest difference of any component; infinite for vectors that cannot be compared. */
export function vectorDifference(
  one: PointVector | undefined,
  other: PointVector | undefined,
): number {
  const left = one && unnamedVectorOf(one);
  const right = other && unnamedVectorOf(other);
  if (left === undefined || right === undefined) return Number.POSITIVE_INFINITY;
  return left === right ? 0 : largestDifference(toNumbers(left), toNumbers(right));
}

function toNumbers(text: string): readonly number[] {
  return JSON.parse(text) as number[];
}

function largestDifference(one: readonly number[], other: readonly number[]): number {
  if (one.length !== other.length) return Number.POSITIVE_INFINITY;
  return one.reduce(
    (largest, value, at) => Math.max(largest, Math.abs(value - (other[at] ?? Number.NaN))),
    0,
  );
}
