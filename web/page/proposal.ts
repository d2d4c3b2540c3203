// Proposes a category for a new transaction: the category of the latest transaction with a similar description, from the list or
// else from the last year of the ledger.
import {
  type ReadonlySignal,
  type Signal,
  useComputed,
  useSignal,
  useSignalEffect,
} from '@preact/signals';
import type { TransactionSearch } from '../../lib/ledger/http/api-types.ts';
import { ApiError } from './api-error.ts';
import { categoriesById } from './category-list.ts';
import { call, pathWith } from './client.ts';
import { rows } from './ledger.ts';
import { type Row, toSimilarityKey } from './rows.ts';
import { localDay, type Type } from './scope.ts';
import type { Draft } from './transaction-form.tsx';

const DELAY_MS = 300;
const MIN_LENGTH = 3;

/** @returns the name of a category, or an empty string without a proposal */
export function useProposal(draft: Signal<Draft>): ReadonlySignal<string> {
  const proposal = useSignal<Proposal>({ similarityKey: '', type: 'expense', name: '' });
  const key = useComputed(() => toSimilarityKey(draft.value.description));
  const type = useComputed(() => draft.value.type);
  const hasCategory = useComputed(() => draft.value.category !== '');
  useSignalEffect(() => {
    const [similarityKey, side] = [key.value, type.value];
    if (similarityKey.length < MIN_LENGTH || hasCategory.value) return;
    if (appliesTo(proposal.peek(), similarityKey, side)) return;
    const timer = setTimeout(async () => {
      const name =
        findCategory(rows.peek(), similarityKey, side) ??
        (await askForCategory(draft.peek().description.trim(), side));
      proposal.value = { similarityKey, type: side, name: name ?? '' };
    }, DELAY_MS);
    return () => clearTimeout(timer);
  });
  return useComputed(() =>
    appliesTo(proposal.value, key.value, type.value) ? proposal.value.name : '',
  );
}

/** A proposal applies to a description and a type: a refund has another category than the purchase. */
interface Proposal {
  readonly similarityKey: string;
  readonly type: Type;
  readonly name: string;
}

function appliesTo(proposal: Proposal, similarityKey: string, side: Type): boolean {
  return proposal.similarityKey === similarityKey && proposal.type === side;
}

function findCategory(
  candidates: readonly Row[],
  similarityKey: string,
  type: Type,
): string | undefined {
  const row = candidates.find(
    (each) =>
      each.category_id !== null &&
      each.type === type &&
      toSimilarityKey(each.description) === similarityKey,
  );
  const category = categoriesById.peek().get(row?.category_id ?? 0);
  return category?.is_active ? category.name : undefined;
}

async function askForCategory(description: string, type: Type): Promise<string | undefined> {
  const today = new Date();
  const yearAgo = new Date(today.getFullYear() - 1, today.getMonth(), today.getDate());
  const path = pathWith('/transactions/search', {
    q: [...description].slice(0, 100).join(''),
    type,
    start_date: localDay(yearAgo),
    end_date: localDay(today),
    per_page: 20,
  });
  try {
    return findCategory(
      (await call<TransactionSearch>(path)).data,
      toSimilarityKey(description),
      type,
    );
  } catch (error) {
    // A proposal is a convenience: if the service does not answer, the page proposes nothing.
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
