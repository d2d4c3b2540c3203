// The pages of a list, one after the other, are the list: each row once, in order, the total exact.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openLedger } from '../../cli/open-ledger.ts';
import {
  type NamedTransaction,
  type NewTransaction,
  TRANSACTION_TYPES,
  type TransactionFilter,
} from '../../lib/domain/transaction.ts';
import type { Ledger } from '../../lib/ledger/ledger.ts';
import { LUNCH } from '../support/api/records.ts';
import { anyDate, crowdedDate } from '../support/calendar-arbitraries.ts';
import { expectedList } from '../support/expected-list.ts';
import { SEED, seeded } from '../support/seed.ts';
import { createTestTable } from '../support/test-table.ts';

const { client, tableName } = await createTestTable();

/** 1 and 2 exist in every generated ledger, 3 does not. */
const CATEGORIES = [1, 2];
const UNKNOWN_CATEGORY = 3;

const row = fc.record({
  ...{ date: crowdedDate, type: fc.constantFrom(...TRANSACTION_TYPES) },
  categoryId: fc.constantFrom(null, ...CATEGORIES),
  createdAt: fc.integer({ min: 0, max: 3 }),
});
/** Positions wrap around, so that any is one of a row. */
const change = fc.record({
  position: fc.nat(),
  to: fc.option(row, { nil: undefined }),
});
const ledgers = fc.record({
  rows: fc.array(row, { maxLength: 45, size: 'max' }),
  changes: fc.array(change, { maxLength: 8 }),
});
const boundary = fc.option(fc.oneof(crowdedDate, anyDate), { nil: undefined });
const question = fc.record({
  filter: fc.record({
    type: fc.constantFrom(undefined, ...TRANSACTION_TYPES),
    categoryId: fc.constantFrom(undefined, undefined, null, ...CATEGORIES, UNKNOWN_CATEGORY),
    startDate: boundary,
    endDate: boundary,
  }),
  perPage: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 100 })),
});
const questions = fc.array(question, { minLength: 1, maxLength: 8, size: 'max' });

type Row = typeof row extends fc.Arbitrary<infer Value> ? Value : never;
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

let runs = 0;

/** A ledger of its own, whose clock shows what the next write is to be dated. */
async function emptyLedger() {
  runs += 1;
  const time = { now: 0 };
  const clock = () => new Date(time.now);
  const ledgerId = `run-${runs}`;
  const ledger = openLedger({ client, tableName, ledgerId, timeZone: 'UTC', clock });
  for (const id of CATEGORIES) {
    await ledger.categories.create({
      name: `${id}`,
      description: null,
      color: null,
      isActive: true,
    });
  }
  return { ledger, time };
}

async function fill(rows: readonly Row[], changes: readonly Change[]) {
  const { ledger, time } = await emptyLedger();
  const model: NamedTransaction[] = [];
  for (const { createdAt, ...fields } of rows) {
    time.now = createdAt;
    model.push(await ledger.transactions.create(toNew(fields)));
  }
  for (const { position, to } of changes) await apply(ledger, model, position, to);
  return { ledger, model };
}

function toNew(fields: Omit<Row, 'createdAt'>): NewTransaction {
  return { ...LUNCH, notes: null, ...fields };
}

async function apply(
  { transactions }: Ledger,
  model: NamedTransaction[],
  position: number,
  to?: Row,
) {
  const existing = model[position % model.length];
  if (!existing) return;
  const place = model.indexOf(existing);
  if (to) {
    const { createdAt: _, ...changes } = to;
    model[place] = await transactions.update(existing, changes);
  } else {
    await transactions.remove(String(existing.id));
    model.splice(place, 1);
  }
}

async function expectPagesOfModel(
  { transactions }: Ledger,
  model: readonly NamedTransaction[],
  filter: TransactionFilter,
  perPage: number,
  isOldestFirst: boolean,
): Promise<void> {
  let page = 0;
  let pages: number;
  // One page more than there are: it is empty and has the same total.
  do {
    page += 1;
    const query = { ...filter, page, perPage, isOldestFirst };
    const listed = await transactions.list(query);
    expect(listed).toEqual(expectedList(model, query));
    pages = listed.pagination.pages;
  } while (page <= pages);
}

test(`every page of every filter is the model's (seed ${SEED})`, {
  timeout: 1_800_000,
}, async () => {
  const agrees = fc.asyncProperty(ledgers, questions, async ({ rows, changes }, asked) => {
    const { ledger, model } = await fill(rows, changes);
    for (const { filter, perPage } of asked) {
      for (const isOldestFirst of [false, true]) {
        await expectPagesOfModel(ledger, model, filter, perPage, isOldestFirst);
      }
    }
  });
  await fc.assert(agrees, seeded(30));
});
