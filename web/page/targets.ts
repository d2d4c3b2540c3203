// The monthly targets of categories. The API has no targets, so they are stored in this browser, for each ledger.
import { computed, signal } from '@preact/signals';
import { me } from './ledger.ts';
import { deviceStorage } from './storage.ts';

const STORAGE_NAME = 'targets';

type Targets = Readonly<Record<string, number>>;

const byLedger = signal<Readonly<Record<string, Targets>>>(readStored());

/** Targets of the open ledger, by category id. */
export const targets = computed<Targets>(() => byLedger.value[me.value?.ledger ?? ''] ?? {});

/** @param amount the monthly target; undefined removes it */
export function setTarget(category: number, amount: number | undefined): void {
  const ledger = me.value?.ledger ?? '';
  // Another tab may have stored targets since.
  const all = { ...byLedger.value, ...readStored() };
  const { [category]: _, ...others } = all[ledger] ?? {};
  const next = amount === undefined ? others : { ...others, [category]: amount };
  byLedger.value = { ...all, [ledger]: next };
  deviceStorage.setItem(STORAGE_NAME, JSON.stringify(byLedger.value));
}

function readStored(): Readonly<Record<string, Targets>> {
  try {
    return JSON.parse(deviceStorage.getItem(STORAGE_NAME) ?? '{}');
  } catch {
    return {};
  }
}
