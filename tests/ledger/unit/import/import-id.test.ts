// Ids that the import command creates for imports.
import { expect, it } from 'vitest';
import { makeImportId } from '../../../../lib/ledger/import/import-id.ts';

const NOW = new Date('2026-11-25T19:00:00.500Z');

it('an import id contains the time and the name of the file, in a form that the API accepts', () => {
  expect(makeImportId('my statement.ofx', new Set(), NOW)).toBe(
    '2026-11-25-190000-my-statement.ofx',
  );
  expect(makeImportId('x'.repeat(100), new Set(), NOW)).toHaveLength(64);
});

it('an import id differs from that of another import in the same second', () => {
  const usedIds = new Set<string>();
  for (let n = 0; n < 3; n += 1) usedIds.add(makeImportId('a.ofx', usedIds, NOW));
  expect([...usedIds]).toEqual([
    '2026-11-25-190000-a.ofx',
    '2026-11-25-190000-2-a.ofx',
    '2026-11-25-190000-3-a.ofx',
  ]);
});
