// Transactions that a person has added but that are not queued: their new category is still being created, or was refused, or the
// service refused them. They are kept, even across a reload, until the form takes them back.
import { describeFailure } from './api-error.ts';
import { resolveCategory } from './category-choice.ts';
import { format, readAmount } from './format.ts';
import { dropDraft, keepDraft, nameInLedger, readDrafts } from './kept-drafts.ts';
import { announcement, me, notice, outbox } from './ledger.ts';
import type { Draft } from './transaction-form.tsx';

interface UnaddedTransaction {
  readonly draft: Draft;
  readonly keptAt: number;
}

/** Names of the drafts whose category is being created. */
const namesUnderWay = new Set<string>();

export function isEmpty({ description, amount }: Draft): boolean {
  return description === '' && amount === '';
}

/** Keeps a transaction until the form is free. @returns the name of the draft */
export function keepUnadded(draft: Draft): string {
  const name = nameInLedger('unadded', me.peek()?.ledger) + crypto.randomUUID();
  keepDraft(name, { draft, keptAt: Date.now() } satisfies UnaddedTransaction);
  return name;
}

/** Returns the oldest transaction that was not added, and drops it here, because the form keeps it. */
export function takeUnadded(): Draft | undefined {
  const keptDrafts = [...readDrafts<UnaddedTransaction>(nameInLedger('unadded', me.peek()?.ledger))]
    .filter(([name]) => !namesUnderWay.has(name))
    .toSorted(([, a], [, b]) => a.keptAt - b.keptAt);
  const [name, oldest] = keptDrafts[0] ?? [];
  if (name !== undefined) dropDraft(name);
  return oldest?.draft;
}

/** Queues the transaction. @returns false if the category could not be created: the transaction is then kept */
export async function addTransaction(draft: Draft): Promise<boolean> {
  const amount = readAmount(draft.amount) ?? 0;
  const description = draft.description.trim();
  const name = keepUnadded(draft);
  namesUnderWay.add(name);
  try {
    const category = await resolveCategory(draft.category);
    outbox.create({
      description,
      amount,
      type: draft.type,
      category_id: category?.id ?? null,
      transaction_date: draft.date,
      notes: null,
      ...(category && { category_name: category.name }),
    });
    dropDraft(name);
  } catch (error) {
    const reason = describeFailure(error);
    notice.value = {
      text: `“${description}” was not added: the category “${draft.category}” was not created. ${reason}`,
    };
    return false;
  } finally {
    namesUnderWay.delete(name);
  }
  announcement.value = `Added ${description}, ${format.money(amount)}`;
  return true;
}
