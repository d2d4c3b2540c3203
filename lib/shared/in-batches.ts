// Works through a list one batch at a time, so that even a long list needs no more connections than a batch has items.

/** Returns the results in the order of the items. A batch starts when the previous one has ended; the first error rejects. */
export async function inBatches<Item, Result>(
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
