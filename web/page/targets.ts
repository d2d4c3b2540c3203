// The monthly targets of categories. The API has no targets, so they are stored in this browser, for each ledger.
import { computed, signal } from '@preact/signals';
import { me } from './ledger.ts';

const STORAGE_NAME = 'targets';

type Targets = Readonly<Record<string, number>>;

const byLedger = signal<Readonly<Record<string, Targets>>>(readStored());

/** Targets of the open ledger, by category id. */
export const targets = computed<Targets>(() => byLedger.value[me.value?.ledger ?? ''] ?? {});

/** @param amount the monthly target; undefined removes it */
export function setTarget(category: number, amount: number | undefined): void {
  const { [category]: _, ...others } = targets.value;
  const next = amount === undefined ? others : { ...others, [category]: amount };
  byLedger.value = { ...byLedger.value, [me.value?.ledger ?? '']: next };
  localStorage.setItem(STORAGE_NAME, JSON.stringify(byLedger.value));
}

function readStored(): Readonly<Record<string, Targets>> {
  try {
    return JSON.parse(localStorage.getItem(STORAGE_NAME) ?? '{}');
  } catch {
    return {};
  }
}
