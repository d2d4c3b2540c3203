// Importing an export into an empty ledger creates an equal ledger. Importing the same file again changes nothing.
import fc from 'fast-check';
import * as v from 'valibot';
import { afterAll, expect, test } from 'vitest';
import { readLedger } from '../../../cli/ledger/import/ledger-rows.ts';
import { upload } from '../../../cli/ledger/import/upload.ts';
import { openLedger } from '../../../cli/ledger/open-ledger.ts';
import { createServiceClient } from '../../../cli/ledger/service-client.ts';
import { MAX_AMOUNT } from '../../../lib/ledger/domain/money.ts';
import { nonBlankText } from '../../../lib/ledger/domain/text.ts';
import { TRANSACTION_TYPES, type Transaction } from '../../../lib/ledger/domain/transaction.ts';
import { planImport } from '../../../lib/ledger/import/plan.ts';
import { createRecorder } from '../../../lib/ledger/import/recorded-rows.ts';
import { readStatement } from '../../../lib/ledger/import/statement.ts';
import type { TransactionRow } from '../../../lib/ledger/import/transaction-row.ts';
import type { Ledger } from '../../../lib/ledger/ledger.ts';
import { anyText } from '../../shared/support/any-text.ts';
import { interpose } from '../../shared/support/interposed-client.ts';
import { SEED, seeded } from '../../shared/support/seed.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import type { Api } from '../support/api/api-client.ts';
import { exportParts } from '../support/api/export-parts.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { serve } from '../support/api/serve.ts';
import { crowdedDate } from '../support/calendar-arbitraries.ts';
import { EVERYTHING } from '../support/ledger-contents.ts';

const table = await createTestTable();
const ROWS_PER_PART = 3;
// Ends each query after three rows, as DynamoDB does after 1 MB.
const client = interpose(table.client, (name, input: { IndexName?: string; Limit?: number }) => {
  if (name === 'QueryCommand' && input.IndexName !== undefined) input.Limit = ROWS_PER_PART;
});

/** Strings that CSV parsers, spreadsheets and importers often handle wrongly */
const awkward = fc.constantFrom(
  ...["'", "''", '=', '+', '-', '@', '＝', '\t', '\r', '\n', '\r\n', '"', '""', ',', ';', ' '],
  ...['\uFEFF', '\u0000', '\u2028', '🏠', 'é', 'e\u0301', '1.234,50', '2026-03-05', 'null', '\\'],
);
const text = fc
  .array(fc.oneof({ weight: 3, arbitrary: awkward }, anyText({ maxLength: 5 })), {
    maxLength: 4,
  })
  .map((parts) => parts.join(''))
  .filter((each) => each.isWellFormed());
const nonBlank = text.filter((each) => v.is(nonBlankText(100), each));
const cents = fc.oneof(
  fc.integer({ min: -10_000, max: 100_000 }),
  fc.constantFrom(0, 1, -1, Math.round(MAX_AMOUNT * 100), -Math.round(MAX_AMOUNT * 100)),
);
const row = fc.record({
  description: nonBlank,
  amount: cents.map((value) => value / 100),
  type: fc.constantFrom(...TRANSACTION_TYPES),
  category: fc.option(fc.nat(), { nil: null }),
  date: crowdedDate,
  notes: fc.option(text, { nil: null }),
  hasExternalId: fc.boolean(),
  /** Number of equal rows */
  copies: fc.integer({ min: 1, max: 3 }),
});
const ledgers = fc.record({
  names: fc.uniqueArray(
    nonBlank.map((name) => name.trim()),
    { maxLength: 3 },
  ),
  externalIds: fc.infiniteStream(nonBlank),
  rows: fc.array(row, { maxLength: 12, size: 'max' }),
  /** Points at which an import is interrupted, as fractions of its rows. */
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4, size: 'max' }),
});
type GeneratedLedger = typeof ledgers extends fc.Arbitrary<infer Value> ? Value : never;

/** Equal rows, one of which exists when the interrupted import is repeated */
const equalRows: GeneratedLedger = {
  names: [],
  externalIds: fc.stream(['x'].values()),
  cuts: [0.5],
  rows: [
    {
      description: 'Tea',
      amount: 3,
      type: 'expense',
      category: null,
      notes: null,
      date: '2026-03-05',
      hasExternalId: false,
      copies: 3,
    },
  ],
};

let runs = 0;
let servedApi: Api;
const server = await serve(() => servedApi);
afterAll(() => server.close());

async function open(name: string) {
  const ledgerId = `${name}-${runs}`;
  const api = await openInProcess(createServiceOn({ ...table, client, ledgerId }));
  return { api, ledger: openLedger({ ...table, ledgerId, timeZone: 'UTC' }) };
}

async function fill(
  { categories, transactions }: Ledger,
  { names, externalIds, rows }: GeneratedLedger,
) {
  const ids: number[] = [];
  for (const name of names) {
    const fields = { name, description: null, color: '#fff', isActive: true };
    ids.push((await categories.create(fields)).id);
  }
  const usedIds = new Set<string>();
  for (const { category, hasExternalId, copies, ...fields } of rows) {
    const categoryId = category === null ? null : (ids[category % ids.length] ?? null);
    for (let n = 0; n < copies; n += 1) {
      const [id = ''] = externalIds.take(1);
      const externalId = hasExternalId && !usedIds.has(id) ? id : null;
      usedIds.add(id);
      await transactions.create({ ...fields, categoryId, externalId });
    }
  }
  // An inactive category keeps its transactions.
  const [first] = ids;
  if (first !== undefined)
    await categories.update(await categories.find(String(first)), { isActive: false });
}

/** Reads everything that an import can keep, in the order of the list. */
async function readImportable({ transactions }: Ledger) {
  const { items } = await transactions.readExportPart(EVERYTHING);
  const pickFields = ({
    date,
    amount,
    type,
    description,
    notes,
    externalId = null,
  }: Transaction) => {
    return { date, amount, type, description, notes, externalId };
  };
  return items.map((item) => ({ ...pickFields(item), category: item.categoryName ?? null }));
}

test(`importing an export creates the same ledger (seed ${SEED})`, async () => {
  const property = fc.asyncProperty(ledgers, async (generated) => {
    runs += 1;
    const source = await open('source');
    const target = await open('target');
    await fill(source.ledger, generated);
    const contents = await readImportable(source.ledger);
    const parts = await Array.fromAsync(exportParts(source.api));
    expect(parts.length).toBe(Math.floor(contents.length / ROWS_PER_PART) + 1);
    const { rows, refused } = await readStatement(Buffer.from(parts.join('')));
    expect([refused, rows.length]).toEqual([[], contents.length]);
    const importRows = async (selected: typeof rows, { api }: { api: Api }) => {
      servedApi = api;
      const service = createServiceClient({ url: server.url, userAgent: 'test' });
      const plan = planImport(selected, await readLedger(service));
      const added: TransactionRow[] = [];
      const recorder = createRecorder({ importId: 'test', total: 1 }, async () => undefined);
      const confirm = async (rows: readonly TransactionRow[]) => void added.push(...rows);
      const batch = { rows: plan.missing, importId: 'test', recorder: { ...recorder, confirm } };
      const { created, duplicates, refused } = await upload(service, batch, () => undefined);
      expect(added).toHaveLength(created);
      return { created, duplicates: plan.present + duplicates, refused };
    };

    let duplicates = 0;
    for (const cut of [...generated.cuts.toSorted((first, second) => first - second), 1]) {
      const end = Math.floor(rows.length * cut);
      const result = { created: end - duplicates, duplicates, refused: [] };
      expect(await importRows(rows.slice(0, end), target)).toEqual(result);
      duplicates = end;
    }
    expect(await readImportable(target.ledger)).toEqual(contents);

    const nothingCreated = { created: 0, duplicates: rows.length, refused: [] };
    expect(await importRows(rows, target)).toEqual(nothingCreated);
    expect(await importRows(rows, source)).toEqual(nothingCreated);
    expect(await readImportable(source.ledger)).toEqual(contents);
  });
  await fc.assert(property, { ...seeded(100), examples: [[equalRows]] });
});
