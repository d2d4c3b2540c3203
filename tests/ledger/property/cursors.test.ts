// Pages that continue after a row, while others write: a row that keeps its place is listed exactly once, even if other rows are
// created, changed, moved or deleted between any two pages.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SEED, seeded } from '../../shared/support/seed.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import type { Api } from '../support/api/api-client.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { givenCategory, givenTransaction } from '../support/api/records.ts';

const table = await createTestTable();

const DAYS = ['2025-12-31', '2026-01-01', '2026-01-02', '2026-02-28'];
const fields = fc.record({
  transaction_date: fc.constantFrom(...DAYS),
  amount: fc.integer({ min: -2, max: 2 }),
  type: fc.constantFrom('income', 'expense'),
  hasCategory: fc.boolean(),
  description: fc.constantFrom('Tea', 'Téa and milk'),
});
type Fields = typeof fields extends fc.Arbitrary<infer Value> ? Value : never;

const write = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), fields }),
  fc.record({ kind: fc.constant('move' as const), index: fc.nat(), fields }),
  fc.record({ kind: fc.constant('delete' as const), index: fc.nat() }),
  fc.record({ kind: fc.constant('note' as const), index: fc.nat() }),
  fc.record({ kind: fc.constant('delete the last listed' as const) }),
);
type Write = typeof write extends fc.Arbitrary<infer Value> ? Value : never;

const DATES = { start_date: '2026-01-01', end_date: '2026-12-31' };
const SORTS = ['date', '-date'];
const FILTERS = [
  '{}',
  '{"type":"expense"}',
  '{"category_id":"1"}',
  '{"category_id":"none","type":"income"}',
];
const list = fc.oneof(
  fc.record({
    path: fc.constant('/transactions'),
    sort: fc.constantFrom(...SORTS),
    filter: fc.constantFrom(
      ...FILTERS.map((text) => JSON.parse(text)),
      ...FILTERS.map((text) => ({ ...JSON.parse(text), ...DATES })),
      { q: 'tea', ...DATES },
    ),
  }),
  fc.record({
    path: fc.constant('/transactions/search'),
    sort: fc.constantFrom(...SORTS, 'amount', '-amount'),
    filter: fc.constantFrom({ q: 'tea' }, { min_amount: -1 }, { category_id: '1,none', ...DATES }),
  }),
);

const runs = fc.record({
  rows: fc.array(fields, { minLength: 1, maxLength: 14 }),
  list,
  perPage: fc.integer({ min: 1, max: 4 }),
  /** Each list of writes happens between two pages. */
  writes: fc.array(fc.array(write, { maxLength: 3 }), { maxLength: 8 }),
});

let ledgerCount = 0;

test(`the pages list each row that keeps its place once (seed ${SEED})`, async () => {
  const property = fc.asyncProperty(
    runs,
    async ({ rows, list: { path, sort, filter }, perPage, writes }) => {
      ledgerCount += 1;
      const ledgerId = `listed-${ledgerCount}`;
      // All rows are created at one instant.
      const clock = () => new Date(0);
      const api = await openInProcess(createServiceOn({ ...table, ledgerId, clock }));
      const { id: category_id } = await givenCategory(api);
      const toBody = ({ hasCategory, ...rest }: Fields) => ({
        ...rest,
        category_id: hasCategory ? category_id : null,
      });
      const ids: number[] = [];
      for (const each of rows) ids.push((await givenTransaction(api, toBody(each))).id);
      const readPage = async (position: object) => {
        const response = await api.get(path, { ...filter, sort, per_page: perPage, ...position });
        expect(response.status, response.text).toBe(200);
        const listed: number[] = response.body.data.map(({ id }: { id: number }) => id);
        return { listed, pagination: response.body.pagination ?? {} };
      };
      const initialIds = await readInOnePage(api, path, { ...filter, sort });
      const moved = new Set<number>();

      const listedIds: number[] = [];
      const remainingWrites = writes.values();
      let page = await readPage({});
      for (;;) {
        listedIds.push(...page.listed);
        const { next_cursor: after, has_next } = page.pagination;
        expect(has_next).toBe(after !== null);
        expect(page.listed.length).toBeLessThanOrEqual(perPage);
        if (after === null) break;
        expect(page.listed.length).toBe(perPage);
        for (const each of remainingWrites.next().value ?? [])
          await apply(each, page.listed.at(-1) ?? 0);
        page = await readPage({ after: String(after) });
        expect(page.pagination).toMatchObject({ page: null, has_prev: true });
      }
      const unmoved = initialIds.filter((id) => !moved.has(id));
      expect(listedIds.filter((id) => unmoved.includes(id))).toEqual(unmoved);
      expect(new Set(listedIds.filter((id) => !moved.has(id))).size).toBe(
        listedIds.filter((id) => !moved.has(id)).length,
      );

      async function apply(write: Write, lastListed: number): Promise<void> {
        if (write.kind === 'create') {
          await givenTransaction(api, toBody(write.fields));
          return;
        }
        const id = 'index' in write ? (ids[write.index % ids.length] ?? 0) : lastListed;
        if (write.kind === 'note') {
          await api.put(`/transactions/${id}`, { notes: 'Milk' });
          return;
        }
        moved.add(id);
        await ('fields' in write
          ? api.put(`/transactions/${id}`, toBody(write.fields))
          : api.delete(`/transactions/${id}`));
      }
    },
  );
  await fc.assert(property, seeded(60));
});

async function readInOnePage(api: Api, path: string, query: object): Promise<number[]> {
  const { body } = await api.get(path, { ...query, per_page: 100 });
  return body.data.map(({ id }: { id: number }) => id);
}
