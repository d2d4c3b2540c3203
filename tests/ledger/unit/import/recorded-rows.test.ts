import { describe, expect, it } from 'vitest';
import { planImport } from '../../../../lib/ledger/import/plan.ts';
import {
  createRecordedRows,
  keepRecords,
  recordRow,
} from '../../../../lib/ledger/import/recorded-rows.ts';
import { readStatement } from '../../../../lib/ledger/import/statement.ts';

const { rows } = await readStatement(
  Buffer.from('date,description,amount\n2026-02-05,Tea,-3.00\n2026-02-06,Bus,-4.00'),
);
const [tea, bus] = rows;
if (!tea || !bus) throw new Error('The statement has two rows');
const records = rows.flatMap((row) => recordRow(row) ?? []);
const recorded = createRecordedRows([{ importId: 'a', rows: records }]);

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
      { importId: 'a', rows: [recordRow(row) ?? ''] },
    ]);
    expect(isOnlyCategorised({ ...row, category: 'Fun' })).toBe(false);
  });

  it('are kept for the transactions that are left', () => {
    expect(keepRecords(records, [bus])).toEqual([recordRow(bus)]);
  });

  it('make a plan leave out what was deleted, unless it is asked for', () => {
    const plan = planImport(rows, [], { recorded: createRecordedRows([]) });
    expect([plan.missing.length, plan.deleted.length]).toEqual([2, 0]);
    expect(planImport(rows, [], { recorded }).deleted).toEqual(rows);
    expect(planImport(rows, [], { recorded, importsDeleted: true }).missing).toEqual(rows);
  });
});
