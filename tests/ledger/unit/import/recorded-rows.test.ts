// Records of the rows that imports added: they distinguish rows that a user deleted from new rows.
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { importPartBody } from '../../../../lib/ledger/http/import-json.ts';
import { planImport } from '../../../../lib/ledger/import/plan.ts';
import {
  announceRemoval,
  createRecordedRows,
  createRecorder,
  keepRecords,
  type RecordedPart,
  recordRow,
  resolvePendingRecords,
} from '../../../../lib/ledger/import/recorded-rows.ts';
import { readStatement } from '../../../../lib/ledger/import/statement.ts';
import type { LedgerRow, TransactionRow } from '../../../../lib/ledger/import/transaction-row.ts';

const { rows } = await readStatement(
  Buffer.from('date,description,amount\n2026-02-05,Tea,-3.00\n2026-02-06,Bus,-4.00'),
);
const [tea, bus] = rows.map((row) => ({ ...row, importId: 'a' }));
if (!tea || !bus) throw new Error('The statement has two rows');
const records = rows.flatMap((row) => recordRow(row) ?? []);
const recorded = createRecordedRows([{ importId: 'a', part: 1, rows: records }]);

type StoredRow = TransactionRow & Pick<LedgerRow, 'importId'>;

/** @returns the parts that are written */
async function resolve(
  imports: readonly RecordedPart[],
  ledger: readonly StoredRow[],
  readParts = async () => imports,
) {
  const writtenParts: RecordedPart[] = [];
  const writePart = async (part: RecordedPart) => void writtenParts.push(part);
  await resolvePendingRecords({ imports, rows: ledger }, { readParts, writePart });
  return writtenParts;
}

describe('recorded rows', () => {
  it('have a form that the service accepts', () => {
    for (const record of records) expect(record).toMatch(/^[0-9a-f]{32}$/);
    expect(recordRow({ ...tea, externalId: null })).toBeUndefined();
  });

  it('are recognized by their identity even after edits', () => {
    expect(recorded.has({ ...tea, description: 'Green tea', amount: 5 })).toBe(true);
    expect(recorded.has({ ...tea, externalId: 'other' })).toBe(false);
    expect(recorded.has({ ...tea, externalId: null })).toBe(false);
  });

  it.each([
    ['no field', {}, true],
    ['a missing category', { category: 'Food' }, true],
    ['notes', { notes: 'x' }, false],
    ['the amount', { amount: 4 }, false],
    ['a category and the description', { category: 'Food', description: 'x' }, false],
  ])('show whether a change of %s only adds a category', (_, change, expected) => {
    expect(recorded.isOnlyCategorised({ ...tea, ...change })).toBe(expected);
  });

  it('show every change of an existing category', () => {
    const row = { ...tea, category: 'Food' };
    const { isOnlyCategorised } = createRecordedRows([
      { importId: 'a', part: 1, rows: [recordRow(row) ?? ''] },
    ]);
    expect(isOnlyCategorised({ ...row, category: 'Fun' })).toBe(false);
  });

  it('are kept for the transactions that remain', () => {
    const part = { importId: 'a', part: 1, rows: records };
    expect(keepRecords([part], [bus])).toEqual([{ ...part, rows: [recordRow(bus)] }]);
  });

  it('keep the name of their account as long as a row remains', () => {
    const part = { importId: 'a', part: 1, rows: ['account-R2lybw', ...records] };
    expect(createRecordedRows([part]).accounts).toEqual(['Giro']);
    expect(createRecordedRows(keepRecords([part], [bus])).accounts).toEqual(['Giro']);
    expect(createRecordedRows(announceRemoval([part], [bus])).accounts).toEqual(['Giro']);
    expect(keepRecords([part], [])).toEqual([{ ...part, rows: [] }]);
  });

  it('let a plan leave out deleted rows, unless they are requested', () => {
    const plan = planImport(rows, [], { recorded: createRecordedRows([]) });
    expect([plan.missing.length, plan.deleted.length]).toEqual([2, 0]);
    expect(planImport(rows, [], { recorded }).deleted).toEqual(rows);
    expect(planImport(rows, [], { recorded, importsDeleted: true }).missing).toEqual(rows);
  });
});

describe('the record of an interrupted import', () => {
  describe('is resolved by the next import', () => {
    const [first = '', second = ''] = records;
    const interrupted = { importId: 'a', part: 1, rows: [first, 'unsent', second] };

    it('if it has not changed since it was read', async () => {
      const otherPart = { ...interrupted, part: 2 };
      const writtenParts = await resolve([interrupted], [tea], async () => [
        otherPart,
        interrupted,
      ]);
      expect(writtenParts).toEqual([{ ...interrupted, rows: [first] }]);
    });

    describe('even if rows were deleted by hand before', () => {
      const pending = { ...interrupted, rows: ['unsent', first, second] };
      const listRecorded = (part: RecordedPart, ledger: readonly StoredRow[]) =>
        rows.map((row) => createRecordedRows([part], ledger).has(row));

      it('if the ledger has a later row of the request', async () => {
        expect(await resolve([pending], [bus])).toEqual([
          { ...interrupted, rows: [first, second] },
        ]);
        expect(listRecorded(pending, [bus])).toEqual([true, true]);
      });

      it.each([
        ['from another import', { ...bus, importId: 'b' }],
        ['entered by hand', { ...bus, importId: null }],
      ])('but not if the later row in the ledger is %s', async (_, laterRow) => {
        expect(await resolve([pending], [laterRow])).toEqual([{ ...interrupted, rows: [second] }]);
        expect(listRecorded(pending, [laterRow])).toEqual([false, true]);
      });

      it('but not if an undo was deleting the rows', async () => {
        const undone = announceRemoval([pending], []);
        expect(await resolve(undone, [bus])).toEqual([{ ...interrupted, rows: [second] }]);
      });

      it('and the rows that may have been deleted are named', () => {
        const { isPossiblyCreated } = createRecordedRows([pending], [tea]);
        expect(rows.map(isPossiblyCreated)).toEqual([false, true]);
        expect(planImport(rows, [], { recorded: createRecordedRows([pending]) })).toMatchObject({
          missing: rows,
          possiblyDeleted: rows,
        });
        expect(createRecordedRows(announceRemoval([pending], [])).isPossiblyCreated(bus)).toBe(
          false,
        );
      });
    });

    it.each([
      ['ended', [{ ...interrupted, rows: [first, second, 'a', 'b'] }]],
      ['continued', [{ ...interrupted, rows: [first, second, 'unsent', 'a'] }]],
      ['continued in another part', [{ ...interrupted, part: 2 }]],
      ['was undone', []],
      ['was stored under another id', [{ ...interrupted, importId: 'b' }]],
    ])('but not if the import %s after it was read', async (_, currentParts) => {
      expect(await resolve([interrupted], [tea, bus], async () => currentParts)).toEqual([]);
    });

    it('but not read again if nothing is pending', async () => {
      const parts = [{ ...interrupted, rows: records }];
      const readParts = () => Promise.reject(new Error('No request is needed'));
      expect(await resolve(parts, [tea], readParts)).toEqual([]);
    });
  });

  it('is not written for rows without an identity', async () => {
    const recorder = createRecorder({ importId: 'a', total: 1 }, () => {
      throw new Error('No request is needed');
    });
    await recorder.announce([{ ...tea, externalId: null }]);
    await recorder.confirm([{ ...tea, externalId: null }]);
    await recorder.close();
  });

  it('fits the parts that the service accepts, even for a long import', async () => {
    const batch = Array.from({ length: 100 }, (_, n) => ({ ...tea, externalId: `row-${n}` }));
    const writtenParts: number[] = [];
    const writePart = async ({ part }: RecordedPart) => void writtenParts.push(part);
    const recorder = createRecorder({ importId: 'a', total: 900_000 }, writePart);
    for (let n = 0; n < 20; n += 1) {
      await recorder.announce(batch);
      await recorder.confirm(batch);
    }
    expect(Math.max(...writtenParts)).toBe(3);
  });
});

describe('the record of an interrupted undo', () => {
  const allRows = Array.from({ length: 6 }, (_, n) => ({ ...tea, externalId: `row-${n}` }));
  const editedRows = allRows.slice(2, 3);
  const uneditedRows = allRows.filter((row) => !editedRows.includes(row));
  const parts = [{ importId: 'a', part: 1, rows: allRows.flatMap((row) => recordRow(row) ?? []) }];
  const announced = announceRemoval(parts, editedRows);

  it('contains every row, but counts only the remaining rows as imported', () => {
    for (const { part, rows: writtenParts } of announced)
      v.parse(importPartBody, { import_id: 'a', part, rows: writtenParts });
    const { has, isOnlyCategorised } = createRecordedRows(announced);
    expect(allRows.filter(has)).toEqual(editedRows);
    expect(allRows.every((row) => isOnlyCategorised({ ...row, category: 'Food' }))).toBe(true);
    expect(announceRemoval(announced, editedRows)).toEqual(announced);
  });

  it.each([0, 1, 5])(
    'lets the next import add the rows that it deleted: %d of them',
    async (deleted) => {
      const ledger = allRows.filter((row) => !uneditedRows.slice(0, deleted).includes(row));
      const resolved = createRecordedRows(await resolve(announced, ledger));
      expect(allRows.filter(resolved.has)).toEqual(ledger);
    },
  );
});
