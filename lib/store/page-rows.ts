// Reads the rows of a page from where it starts, skipping newer rows of its first day from the nearer end of that day.
import type { DateRange, PageStart } from '../domain/day-histogram.ts';
import type { Database, Item, Range } from './database.ts';
import { firstKeyOf, type IndexPartition, lastKeyOf } from './keys.ts';

export interface RowsOfPage {
  readonly partition: IndexPartition;
  readonly range: DateRange;
  readonly start: PageStart;
  readonly limit: number;
}

/** What a second query costs, in rows that could be read instead. */
const ROWS_PER_QUERY = 8;
/** More rows than this are counted over instead of fetched: as many read units, but nothing to carry and decode. */
const WORTH_COUNTING_OVER = 200;

/** @returns at most `limit` rows, newest first */
export async function readRows(database: Database, page: RowsOfPage): Promise<Item[]> {
  const { range, start, limit } = page;
  const rest = start.dayCount - start.skip;
  const fromOlderEnd = rest < limit ? limit + ROWS_PER_QUERY : rest;
  if (start.skip + limit <= fromOlderEnd) {
    const onwards = newestFirst(page, range.start, lastKeyOf(start.date));
    return await slice(database, onwards, start.skip, limit);
  }
  const taken = Math.min(rest, limit);
  const [ofDay, older] = await Promise.all([
    slice(database, oldestFirst(page), rest - taken, taken),
    slice(database, newestFirst(page, range.start, firstKeyOf(start.date)), 0, limit - taken),
  ]);
  return [...ofDay.reverse(), ...older];
}

async function slice(database: Database, range: Range, skip: number, limit: number) {
  if (limit === 0 || isEmpty(range)) return [];
  if (skip <= WORTH_COUNTING_OVER) return (await database.query(range, skip + limit)).slice(skip);
  const from = await database.countOver(range, skip);
  return from ? await database.query(range, limit, from) : [];
}

function newestFirst({ partition }: RowsOfPage, first: string, last: string): Range {
  return { ...partition, sortKey: 'date_key', between: [first, last], descending: true };
}

function oldestFirst({ partition, start }: RowsOfPage): Range {
  const between = [firstKeyOf(start.date), lastKeyOf(start.date)] as const;
  return { ...partition, sortKey: 'date_key', between };
}

// DynamoDB refuses a range whose ends are crossed.
function isEmpty({ between }: Range): boolean {
  return between !== undefined && between[0] > between[1];
}
