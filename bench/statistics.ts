// Reduces many measurements to one figure.

/** Returns the middle value, or the mean of the middle two if the number of values is even. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((first, second) => first - second);
  const upper = Math.floor(sorted.length / 2);
  const lower = sorted.length % 2 === 0 ? upper - 1 : upper;
  return mean(sorted.slice(lower, upper + 1));
}

export function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
