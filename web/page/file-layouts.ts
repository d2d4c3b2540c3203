// Remembers the options with which a file was read, for the next file of the same layout. They are stored in this browser,
// separately for each ledger.
import type { Statement, StatementOptions } from '../../lib/ledger/import/statement.ts';
import { me } from './ledger.ts';
import { deviceStorage } from './storage.ts';

const STORAGE_NAME = 'layouts';

type LayoutsByLedger = Readonly<Record<string, NonNullable<StatementOptions['layouts']>>>;

function readAllLayouts(): LayoutsByLedger {
  try {
    return JSON.parse(deviceStorage.getItem(STORAGE_NAME) ?? '{}');
  } catch {
    return {};
  }
}

export function readLayouts() {
  return readAllLayouts()[me.value?.ledger ?? ''] ?? {};
}

export function rememberLayout({ layout }: Statement): void {
  if (!layout || Object.keys(layout.used).length === 0) return;
  writeLayouts({ ...readLayouts(), [layout.key]: layout.used });
}

export function forgetLayout({ layout }: Statement): void {
  if (!layout) return;
  const { [layout.key]: _, ...others } = readLayouts();
  writeLayouts(others);
}

function writeLayouts(layouts: NonNullable<StatementOptions['layouts']>): void {
  const allLayouts = { ...readAllLayouts(), [me.value?.ledger ?? '']: layouts };
  deviceStorage.setItem(STORAGE_NAME, JSON.stringify(allLayouts));
}
