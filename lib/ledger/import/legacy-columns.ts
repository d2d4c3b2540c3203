// Reads a row as earlier releases did. The ids that they stored depend on that reading, and a row that was imported then must
// still be recognized. Never change the names in this file.

import type { ChosenColumns } from './chosen-columns.ts';
import type { LegacyReading } from './entry.ts';

const LEGACY_NAMES = {
  description: [
    ...['description', 'payee', 'merchant', 'name', 'details', 'text', 'memo'],
    ...['verwendungszweck', 'buchungstext', 'narrative', 'libellé', 'transaction description'],
  ],
  category: ['category_name', 'category', 'kategorie'],
  notes: ['notes', 'note', 'comment'],
  externalId: ['external_id', 'transaction id', 'reference'],
} as const;
const MAX_NAME_LENGTH = 100;

export function createLegacyReader(
  headers: readonly string[],
  chosen: ChosenColumns,
): (cells: readonly string[]) => LegacyReading {
  const exactNames = headers.map((header) => header.slice(0, MAX_NAME_LENGTH).trim().toLowerCase());
  const bareNames = exactNames.map((name) => name.replace(/\s*[([][^)\]]*[)\]]$/, ''));
  const find = (field: keyof typeof LEGACY_NAMES) => {
    const name = chosen[field]?.trim();
    if (name !== undefined) return headers.findIndex((header) => header.trim() === name);
    for (const names of [exactNames, bareNames])
      for (const legacyName of LEGACY_NAMES[field])
        if (names.includes(legacyName)) return names.indexOf(legacyName);
    return -1;
  };
  const columns = {
    description: find('description'),
    category: find('category'),
    notes: find('notes'),
    bankId: find('externalId'),
  };
  return (cells) => {
    const readCell = (index: number) => cells[index]?.trim() || null;
    return {
      description: readCell(columns.description) ?? '',
      category: readCell(columns.category),
      notes: readCell(columns.notes),
      bankId: readCell(columns.bankId),
    };
  };
}
