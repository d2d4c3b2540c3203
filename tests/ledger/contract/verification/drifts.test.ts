// Every difference between recorded and recomputed figures is reported, and repaired if the right value is known. A guard is an
// item that reserves a name or an external id.
import { describe, expect, it } from 'vitest';
import type { Keys } from '../../../../lib/ledger/store/keys.ts';
import { verifyAllLedgers } from '../../../../lib/ledger/store/verification/all-ledgers.ts';
import { type Drift, describeDrift } from '../../../../lib/ledger/store/verification/drifts.ts';
import { createVerification } from '../../../../lib/ledger/store/verification/verification.ts';
import type { Key } from '../../../../lib/shared/database.ts';
import { oneInEvery } from '../../../shared/support/quick-cases.ts';
import { createSleeplessRetryPolicy } from '../../../shared/support/sleepless-retry-policy.ts';
import { bulkLoadHousehold } from '../../support/bulk-loader.ts';
import { createCorruptibleTable } from '../../support/corruptible-table.ts';

const { givenLedger, send } = await createCorruptibleTable();

const toKey = (pk: string, sk: string): Key => ({ pk, sk });

interface Corruption {
  readonly title: string;
  readonly corrupt: (keys: Keys) => Promise<unknown>;
  readonly reported: readonly string[];
}

const REPAIRABLE: readonly Corruption[] = [
  {
    title: 'a day counted too high',
    corrupt: (keys) => send.set(toKey(keys.days(), 'M#2026-03'), 'e5', 3),
    reported: ['day count, expense of 2026-03-05, all transactions: recorded 3, recomputed 2'],
  },
  {
    title: 'a month whose counts are missing',
    corrupt: (keys) => send.delete(toKey(keys.days(2), 'M#2026-04')),
    reported: [
      'day count, income of 2026-04-01, category 2: recorded nothing, recomputed 1',
      'day sums, cents of 2026-04, category 2: recorded I1=nothing, recomputed I1=100',
    ],
  },
  {
    title: 'counts of a year that has no rows',
    corrupt: (keys) => send.put({ ...toKey(keys.days(), 'Y#1999'), e12: -2 }),
    reported: ['day count, expense of 1999-12, all transactions: recorded -2, recomputed 0'],
  },
  {
    title: 'wrong sums of a month, one of them of a day without rows',
    corrupt: async (keys) => {
      await send.set(toKey(keys.days(), 'M#2026-03'), 'E5', 199);
      await send.set(toKey(keys.days(), 'M#2026-03'), 'I6', -1);
    },
    reported: [
      'day sums, cents of 2026-03, all transactions: recorded E5=199 I6=-1, recomputed E5=200 I6=0',
    ],
  },
  {
    title: 'a wrong count of a category',
    corrupt: (keys) => send.set(keys.category(1), 'transaction_count', 0),
    reported: ['category count, category 1: recorded 0, recomputed 2'],
  },
  {
    title: 'a name without its guard',
    corrupt: (keys) => send.delete(keys.categoryName('Food')),
    reported: ['name guard, "Food": recorded none, recomputed category 1'],
  },
  {
    title: 'a guard for a name that no category has',
    corrupt: (keys) => send.put({ ...keys.categoryName('Old'), category_id: 1 }),
    reported: ['name guard, "Old": recorded category 1, recomputed none'],
  },
  {
    title: 'a guard left by a category that does not exist',
    corrupt: (keys) => send.put({ ...keys.categoryName('Lost'), category_id: 77 }),
    reported: ['name guard, "Lost": recorded category 77, recomputed none'],
  },
  {
    title: 'guards that point to one another’s category',
    corrupt: async (keys) => {
      await send.put({ ...keys.categoryName('Food'), category_id: 2 });
      await send.put({ ...keys.categoryName('Pay'), category_id: 1 });
    },
    reported: [
      'name guard, "Food": recorded category 2, recomputed category 1',
      'name guard, "Pay": recorded category 1, recomputed category 2',
    ],
  },
  {
    title: 'a row in the index of the other type',
    corrupt: (keys) => send.set(keys.transaction(3), 'type_key', 'elsewhere#expense'),
    reported: [
      'row keys, row LEDGER#TRANSACTION#3: recorded type_key=elsewhere#expense, recomputed type_key=LEDGER#income',
    ],
  },
  {
    title: 'a row without a category, stored before category_id=none existed, and its counts',
    corrupt: async (keys) => {
      await send.remove(keys.transaction(4), 'category_key', 'category_type_key');
      await send.delete({ pk: keys.days(null), sk: 'Y#2025' });
      await send.delete({ pk: keys.days(null), sk: 'M#2025-05' });
    },
    reported: [
      'day count, expense of 2025-05, no category: recorded nothing, recomputed 1',
      'day count, expense of 2025-05-31, no category: recorded nothing, recomputed 1',
      'day sums, cents of 2025, no category: recorded E5=nothing, recomputed E5=100',
      'day sums, cents of 2025-05, no category: recorded E31=nothing, recomputed E31=100',
      'row keys, row LEDGER#TRANSACTION#4: recorded category_key=nothing category_type_key=nothing, recomputed category_key=LEDGER#none category_type_key=LEDGER#none#expense',
    ],
  },
  {
    title: 'a row whose date key has another id',
    corrupt: (keys) =>
      send.set(
        keys.transaction(2),
        'date_key',
        '2026-03-05#1970-01-01T00:00:00.000Z#0000000000000099',
      ),
    reported: [
      // The creation time is part of the key, and of the digest.
      expect.stringContaining('month digests, months of 2026'),
      'row keys, row LEDGER#TRANSACTION#2: recorded date_key=2026-03-05#1970-01-01T00:00:00.000Z#0000000000000099, recomputed date_key=2026-03-05#1970-01-01T00:00:00.000Z#0000000000000002',
    ],
  },
  {
    title: 'a sequence behind the highest transaction id',
    corrupt: (keys) => send.set(keys.sequence('transaction'), 'last', 3),
    reported: ['sequence, last transaction id: recorded 3, recomputed 4'],
  },
  {
    title: 'a missing sequence of categories',
    corrupt: (keys) => send.delete(keys.sequence('category')),
    reported: ['sequence, last category id: recorded 0, recomputed 2'],
  },
  {
    title: 'an external id without its guard',
    corrupt: (keys) => send.set(keys.transaction(3), 'external_id', 'bank#1'),
    reported: ['external id, "bank#1": recorded none, recomputed transaction 3'],
  },
  {
    title: 'a guard for an external id that no row has',
    corrupt: (keys) => send.put({ ...keys.externalId('bank#2'), transaction_id: 4 }),
    reported: ['external id, "bank#2": recorded transaction 4, recomputed none'],
  },
  {
    title: 'a guard that names another row',
    corrupt: async (keys) => {
      await send.set(keys.transaction(3), 'external_id', 'bank#3');
      await send.put({ ...keys.externalId('bank#3'), transaction_id: 4 });
    },
    reported: ['external id, "bank#3": recorded transaction 4, recomputed transaction 3'],
  },
];

const UNREPAIRABLE: readonly Corruption[] = [
  {
    title: 'two categories with the same name',
    corrupt: (keys) => send.set(keys.category(2), 'name', 'Food'),
    reported: [
      'name guard, "Food": recorded category 1, recomputed categories 1 and 2 (needs a person to decide)',
    ],
  },
  {
    title: 'two rows with the same external id',
    corrupt: async (keys) => {
      await send.set(keys.transaction(3), 'external_id', 'twice');
      await send.set(keys.transaction(4), 'external_id', 'twice');
    },
    reported: [
      'external id, "twice": recorded none, recomputed transactions 3 and 4 (needs a person to decide)',
    ],
  },
  {
    title: 'a row whose date cannot be read',
    corrupt: (keys) => send.set(keys.transaction(4), 'date_key', 'yesterday'),
    reported: [
      'row keys, row LEDGER#TRANSACTION#4: recorded date_key=yesterday, recomputed nothing: the row cannot be read (needs a person to decide)',
    ],
  },
  {
    title: 'rows of a category that does not exist',
    corrupt: (keys) => send.delete(keys.category(1)),
    reported: [
      'category of a row, category 1: recorded rows that refer to it, recomputed no such category (needs a person to decide)',
    ],
  },
];

describe('a ledger', () => {
  it('has no drift after changes through its services', async () => {
    const { verification } = await givenLedger();
    expect(await verification.verify()).toEqual({ rows: 4, categories: 2, drifts: [] });
  });

  it('has no drift after the bulk loader filled it', async () => {
    // The ledger has its own table, because a verification reads the whole table.
    const { target, verification } = await (await createCorruptibleTable()).givenLedger();
    const ledgerId = `${target.ledgerId}-bulk`;
    const household = { transactions: 700, years: 3, lastDay: '2026-06-30', seed: 3 };
    await bulkLoadHousehold({ ...target, ledgerId }, household);
    const bulk = createVerification({
      ...target,
      ledgerId,
      retryPolicy: createSleeplessRetryPolicy(),
    });
    expect(await bulk.verify()).toEqual({ rows: 700, categories: 30, drifts: [] });
    expect((await verification.verify()).rows).toBe(4);
  });
});

// Only a scan finds these drifts, because no key of the ledger leads to them.
const FOUND_ONLY_BY_SCAN = [
  'a sequence behind the highest',
  'a guard for an external id that no row',
];

/** Returns the drifts that a verification without a scan finds. */
async function describeDriftsByKeys({
  verificationByKeys,
  target,
}: Pick<Given, 'verificationByKeys' | 'target'>) {
  return describeDrifts((await verificationByKeys.verify()).drifts, target.ledgerId);
}
type Given = Awaited<ReturnType<typeof givenLedger>>;

describe.each(oneInEvery(4, REPAIRABLE))('$title', ({ title, corrupt, reported }) => {
  it('is reported, and repaired', async () => {
    const { verification, ...ledger } = await givenLedger();
    await corrupt(ledger.keys);
    const isFoundByKeys = !FOUND_ONLY_BY_SCAN.some((start) => title.startsWith(start));
    const byKeys = await describeDriftsByKeys(ledger);
    if (isFoundByKeys) expect(byKeys).toEqual(reported);
    else expect(byKeys).not.toEqual(reported);
    expect(describeDrifts((await verification.verify()).drifts, ledger.target.ledgerId)).toEqual(
      reported,
    );
    expect((await verifyAllLedgers(ledger.target)).unbalanced).toContain(ledger.target.ledgerId);
    const { repaired, verdict } = await verification.repair();
    expect((await verifyAllLedgers(ledger.target)).unbalanced).not.toContain(
      ledger.target.ledgerId,
    );
    expect(describeDrifts(repaired, ledger.target.ledgerId)).toEqual(reported);
    expect(verdict).toEqual({ rows: 4, categories: 2, drifts: [] });
  });
});

describe.each(oneInEvery(2, UNREPAIRABLE))('$title', ({ corrupt, reported }) => {
  it('is reported and left for a person to repair', async () => {
    const { verification, ...ledger } = await givenLedger();
    await corrupt(ledger.keys);
    const before = describeDrifts((await verification.verify()).drifts, ledger.target.ledgerId);
    expect(await describeDriftsByKeys(ledger)).toEqual(before);
    expect(before).toEqual(expect.arrayContaining([...reported]));
    expect((await verifyAllLedgers(ledger.target)).unbalanced).toContain(ledger.target.ledgerId);
    const { verdict } = await verification.repair();
    expect(describeDrifts(verdict.drifts, ledger.target.ledgerId)).toEqual(
      expect.arrayContaining([...reported]),
    );
  });
});

function describeDrifts(drifts: readonly Drift[], ledgerId: string): string[] {
  return drifts.map((drift) => describeDrift(drift).replaceAll(ledgerId, 'LEDGER')).toSorted();
}
