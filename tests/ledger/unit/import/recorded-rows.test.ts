// Records of the rows that imports added: they tell rows that a user deleted from rows that are new.
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

/** @returns the parts of records that `resolve` writes */
async function resolve(
  imports: readonly RecordedPart[],
  ledger: readonly StoredRow[],
  readParts = async () => imports,
) {
  const written: RecordedPart[] = [];
  const writePart = async (part: RecordedPart) => void written.push(part);
  await resolvePendingRecords({ imports, rows: ledger }, { readParts, writePart });
  return written;
}

describe('recorded rows', () => {
  it('fit what the service takes', () => {
    for (const record of records) expect(record).toMatch(/^[0-9a-f]{32}$/);
    expect(recordRow({ ...tea, externalId: null })).toBeUndefined();
  });

  it('are recognized by their identity, although they were edited since', () => {
    expect(recorded.has({ ...tea, description: 'Green tea', amount: 5 })).toBe(true);
    expect(recorded.has({ ...tea, externalId: 'other' })).toBe(false);
    expect(recorded.has({ ...tea, externalId: null })).toBe(false);
  });

  it.each([
    ['nothing', {}, true],
    ['a category that was added', { category: 'Food' }, true],
    ['notes', { notes: 'x' }, false],
    ['the amount', { amount: 4 }, false],
    ['a category and the description', { category: 'Food', description: 'x' }, false],
  ])('tell that only a category was added from a change of %s', (_, change, isOnly) => {
    expect(recorded.isOnlyCategorised({ ...tea, ...change })).toBe(isOnly);
  });

  it('with a category tell every change of it', () => {
    const row = { ...tea, category: 'Food' };
    const { isOnlyCategorised } = createRecordedRows([
      { importId: 'a', part: 1, rows: [recordRow(row) ?? ''] },
    ]);
    expect(isOnlyCategorised({ ...row, category: 'Fun' })).toBe(false);
  });

  it('are kept for the transactions that are left', () => {
    const part = { importId: 'a', part: 1, rows: records };
    expect(keepRecords([part], [bus])).toEqual([{ ...part, rows: [recordRow(bus)] }]);
  });

  it('have the name of their account, as long as a row is left', () => {
    const part = { importId: 'a', part: 1, rows: ['account-R2lybw', ...records] };
    expect(createRecordedRows([part]).accounts).toEqual(['Giro']);
    expect(createRecordedRows(keepRecords([part], [bus])).accounts).toEqual(['Giro']);
    expect(createRecordedRows(announceRemoval([part], [bus])).accounts).toEqual(['Giro']);
    expect(keepRecords([part], [])).toEqual([{ ...part, rows: [] }]);
  });

  it('make a plan leave out what was deleted, unless it is asked for', () => {
    const plan = planImport(rows, [], { recorded: createRecordedRows([]) });
    expect([plan.missing.length, plan.deleted.length]).toEqual([2, 0]);
    expect(planImport(rows, [], { recorded }).deleted).toEqual(rows);
    expect(planImport(rows, [], { recorded, importsDeleted: true }).missing).toEqual(rows);
  });
});

describe('the record of an import that is interrupted', () => {
  describe('is resolved by the next import', () => {
    const [first = '', second = ''] = records;
    const cut = { importId: 'a', part: 1, rows: [first, 'unsent', second] };

    it('where it is still as it was read', async () => {
      const others = [{ ...cut, part: 2 }];
      const written = await resolve([cut], [tea], async () => [...others, cut]);
      expect(written).toEqual([{ ...cut, rows: [first] }]);
    });

    describe('although rows were deleted by hand before', () => {
      const pending = { ...cut, rows: ['unsent', first, second] };
      const isDeleted = (part: RecordedPart, ledger: readonly StoredRow[]) =>
        rows.map((row) => createRecordedRows([part], ledger).has(row));

      it('where the ledger has a later row of the request', async () => {
        expect(await resolve([pending], [bus])).toEqual([{ ...cut, rows: [first, second] }]);
        expect(isDeleted(pending, [bus])).toEqual([true, true]);
      });

      it.each([
        ['of another import', { ...bus, importId: 'b' }],
        ['by hand', { ...bus, importId: null }],
      ])('but not where the ledger has the later row %s', async (_, there) => {
        expect(await resolve([pending], [there])).toEqual([{ ...cut, rows: [second] }]);
        expect(isDeleted(pending, [there])).toEqual([false, true]);
      });

      it('but not where an undo was deleting the rows', async () => {
        const undone = announceRemoval([pending], []);
        expect(await resolve(undone, [bus])).toEqual([{ ...cut, rows: [second] }]);
      });

      it('and names the others, which may have been', () => {
        const { isUnproven } = createRecordedRows([pending], [tea]);
        expect(rows.map(isUnproven)).toEqual([false, true]);
        expect(planImport(rows, [], { recorded: createRecordedRows([pending]) })).toMatchObject({
          missing: rows,
          unproven: rows,
        });
        expect(createRecordedRows(announceRemoval([pending], [])).isUnproven(bus)).toBe(false);
      });
    });

    it.each([
      ['ended', [{ ...cut, rows: [first, second, 'a', 'b'] }]],
      ['went on', [{ ...cut, rows: [first, second, 'unsent', 'a'] }]],
      ['went on in another part', [{ ...cut, part: 2 }]],
      ['was taken back', []],
      ['was put under another id', [{ ...cut, importId: 'b' }]],
    ])('but not where the import %s since it was read', async (_, now) => {
      expect(await resolve([cut], [tea, bus], async () => now)).toEqual([]);
    });

    it('but not read again where nothing is pending', async () => {
      const parts = [{ ...cut, rows: records }];
      const readParts = () => Promise.reject(new Error('No request is needed'));
      expect(await resolve(parts, [tea], readParts)).toEqual([]);
    });
  });

  it('of rows without an identity is not written', async () => {
    const recorder = createRecorder({ importId: 'a', total: 1 }, () => {
      throw new Error('No request is needed');
    });
    await recorder.announce([{ ...tea, externalId: null }]);
    await recorder.confirm([{ ...tea, externalId: null }]);
    await recorder.close();
  });

  it('of a long import fits the parts that the service takes', async () => {
    const hundred = Array.from({ length: 100 }, (_, n) => ({ ...tea, externalId: `row-${n}` }));
    const written: number[] = [];
    const writePart = async ({ part }: RecordedPart) => void written.push(part);
    const recorder = createRecorder({ importId: 'a', total: 900_000 }, writePart);
    for (let n = 0; n < 20; n += 1) {
      await recorder.announce(hundred);
      await recorder.confirm(hundred);
    }
    expect(Math.max(...written)).toBe(3);
  });
});

describe('the record of an undo that is interrupted', () => {
  const all = Array.from({ length: 6 }, (_, n) => ({ ...tea, externalId: `row-${n}` }));
  const edited = all.slice(2, 3);
  const unedited = all.filter((row) => !edited.includes(row));
  const parts = [{ importId: 'a', part: 1, rows: all.flatMap((row) => recordRow(row) ?? []) }];
  const announced = announceRemoval(parts, edited);

  it('knows every row, and counts only those that stay as imported', () => {
    for (const { part, rows: written } of announced)
      v.parse(importPartBody, { import_id: 'a', part, rows: written });
    const { has, isOnlyCategorised } = createRecordedRows(announced);
    expect(all.filter(has)).toEqual(edited);
    expect(all.every((row) => isOnlyCategorised({ ...row, category: 'Food' }))).toBe(true);
    expect(announceRemoval(announced, edited)).toEqual(announced);
  });

  it.each([0, 1, 5])('brings back the rows that it has deleted: %d of them', async (deleted) => {
    const ledger = all.filter((row) => !unedited.slice(0, deleted).includes(row));
    const settled = createRecordedRows(await resolve(announced, ledger));
    expect(all.filter(settled.has)).toEqual(ledger);
  });
});
