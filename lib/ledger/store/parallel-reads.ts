// Runs independent reads, several at a time.

/** Number of parallel reads that a single busy core handles within the time limit of a call. */
const READ_CONCURRENCY = 6;

/** @returns the results in the order of the items */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  read: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [n, item] of queue) results[n] = await read(item);
  };
  await Promise.all(Array.from({ length: READ_CONCURRENCY }, worker));
  return results;
}
