// The monthly target of a category. The API has no targets: they are kept in this browser, by ledger.
import { computed, signal } from '@preact/signals';
import { me } from './ledger.ts';

const STORED = 'targets';

type Targets = Readonly<Record<string, number>>;

const byLedger = signal<Readonly<Record<string, Targets>>>(readStored());

/** By the id of the category. */
export const targets = computed<Targets>(() => byLedger.value[me.value?.ledger ?? ''] ?? {});

/** @param amount undefined removes the target */
export function setTarget(category: number, amount: number | undefined): void {
  const { [category]: _, ...others } = targets.value;
  const next = amount === undefined ? others : { ...others, [category]: amount };
  byLedger.value = { ...byLedger.value, [me.value?.ledger ?? '']: next };
  localStorage.setItem(STORED, JSON.stringify(byLedger.value));
}

function readStored(): Readonly<Record<string, Targets>> {
  try {
    return JSON.parse(localStorage.getItem(STORED) ?? '{}');
  } catch {
    return {};
  }
}
