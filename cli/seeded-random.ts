// Generates random numbers that are the same for the same seed on every machine, because generated data must not change between
// runs.

export type SeededRandom = ReturnType<typeof createSeededRandom>;

/** @param seed any integer */
export function createSeededRandom(seed: number) {
  let state = seed | 0;

  /** Returns a number of at least 0 and less than 1 (mulberry32). */
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns a whole number from `from` to `to`, inclusive. */
  function integer(from: number, to: number): number {
    return from + Math.floor(next() * (to - from + 1));
  }

  function between(from: number, to: number): number {
    return from + next() * (to - from);
  }

  function chance(probability: number): boolean {
    return next() < probability;
  }

  function pick<Item>(list: readonly Item[]): Item {
    const picked = list[Math.floor(next() * list.length)];
    if (picked === undefined) throw new RangeError('Nothing to pick from');
    return picked;
  }

  return { next, integer, between, chance, pick };
}
