// Runs a function for each item of a list, one batch at a time: even a long list needs only as many connections as a batch has
// items.

/** Returns the results in the order of the items. Stops at the first error. */
export async function runInBatches<Item, Result>(
  items: readonly Item[],
  size: number,
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let first = 0; first < items.length; first += size) {
    results.push(...(await Promise.all(items.slice(first, first + size).map((item) => run(item)))));
  }
  return results;
}
