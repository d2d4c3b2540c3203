// Measures the cost of writes in a small and a large ledger. The update of the counts must not cost more in the large ledger.

import { atMost, formatNumber, type Report } from '../report.ts';
import {
  type BenchLedger,
  createHousehold,
  LAST_DAY,
  openBenchLedger,
  PURCHASE,
} from './bench-ledger.ts';
import type { BenchRun } from './bench-run.ts';
import type { Cost } from './metered-client.ts';

const YEARS = 10;
const MAX_WRITE_UNITS = new Map([
  ['create', 17],
  ['delete', 16],
  ['update of notes', 6],
]);

export async function measureWriteCost(run: BenchRun): Promise<Report> {
  const sizes = run.quick ? [1_000, 10_000] : [1_000, 100_000];
  const bySize = new Map<number, ReadonlyMap<string, Cost>>();
  for (const size of sizes) {
    const ledger = await openBenchLedger(run, createHousehold(size, YEARS), size);
    bySize.set(size, await measureWrites(ledger));
  }
  const names = [...(bySize.values().next().value?.keys() ?? [])];
  const listWriteUnits = (name: string) =>
    sizes.map((size) => bySize.get(size)?.get(name)?.writeUnits ?? Number.NaN);
  return {
    bars: [...MAX_WRITE_UNITS].map(([name, limit]) =>
      atMost(`write units: ${name}, at either size`, Math.max(...listWriteUnits(name)), limit, ''),
    ),
    tables: [
      {
        title:
          'Write units by the number of transactions in the ledger. DynamoDB charges each item of a transaction twice, and each index entry separately.',
        columns: [
          'write',
          ...sizes.map((size) => `at ${formatNumber(size)}`),
          'calls',
          'sequential round trips',
        ],
        rows: names.map((name) => {
          const cost = bySize.get(Math.max(...sizes))?.get(name);
          return [name, ...listWriteUnits(name), cost?.calls ?? '', cost?.roundTrips ?? ''];
        }),
      },
    ],
  };
}

async function measureWrites({ metered, meter }: BenchLedger): Promise<Map<string, Cost>> {
  const costs = new Map<string, Cost>();
  const { transactions } = metered;

  async function measure<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const { result, cost } = await meter.measure(work);
    costs.set(name, cost);
    return result;
  }

  const created = await measure('create', () => transactions.create(PURCHASE));
  const noted = await measure('update of notes', () =>
    transactions.update(created, { notes: 'Paid in cash' }),
  );
  const sameMonth = await measure('move to another day of the month', () =>
    transactions.update(noted, { date: `${LAST_DAY.slice(0, 8)}01` }),
  );
  const otherYear = await measure('move to another year', () =>
    transactions.update(sameMonth, { date: `${Number(LAST_DAY.slice(0, 4)) - 1}-03-05` }),
  );
  const moved = await measure('move to another category', () =>
    transactions.update(otherYear, { categoryId: 8 }),
  );
  await measure('delete', () => transactions.remove(String(moved.id)));
  const uncategorised = await measure('create without a category', () =>
    transactions.create({ ...PURCHASE, categoryId: null }),
  );
  await measure('delete without a category', () => transactions.remove(String(uncategorised.id)));
  return costs;
}
