// The monthly targets of categories. The API has no targets, so they are stored in this browser, separately for each ledger.
import { computed, signal } from '@preact/signals';
import { me } from './ledger.ts';
import { deviceStorage } from './storage.ts';

const STORAGE_NAME = 'targets';

type Targets = Readonly<Record<string, number>>;

const targetsByLedger = signal<Readonly<Record<string, Targets>>>(readStored());

/** Targets of the open ledger, by category id. */
export const targets = computed<Targets>(() => targetsByLedger.value[me.value?.ledger ?? ''] ?? {});

/** @param amount the monthly target; undefined removes it */
export function setTarget(category: number, amount: number | undefined): void {
  const ledger = me.value?.ledger ?? '';
  // Another tab may have stored targets since.
  const allTargets = { ...targetsByLedger.value, ...readStored() };
  const { [category]: _, ...otherTargets } = allTargets[ledger] ?? {};
  const newTargets = amount === undefined ? otherTargets : { ...otherTargets, [category]: amount };
  targetsByLedger.value = { ...allTargets, [ledger]: newTargets };
  deviceStorage.setItem(STORAGE_NAME, JSON.stringify(targetsByLedger.value));
}

function readStored(): Readonly<Record<string, Targets>> {
  try {
    return JSON.parse(deviceStorage.getItem(STORAGE_NAME) ?? '{}');
  } catch {
    return {};
  }
}
