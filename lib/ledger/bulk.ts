// Creates many transactions in few database transactions. What one of them refuses is halved until the refusal belongs to
// one transaction: the others are stored, and each gets an outcome of its own.
import type { NewTransaction, Transaction } from '../domain/transaction.ts';
import {
  DeadlineExceededError,
  DuplicateError,
  OutcomeUnknownError,
  RequestRepeatedError,
} from '../errors.ts';
import type { Write } from '../store/database.ts';
import type { NewRow, TransactionStore } from '../store/transactions.ts';

export interface BulkItem {
  readonly fields: NewTransaction;
  /** Further writes of the database transaction that stores it. */
  readonly alsoWrite?: (id: number) => readonly Write[];
  /** Whether an earlier attempt of the same request stored it. Asked where that may be. */
  readonly wasApplied?: () => Promise<boolean>;
}

/** The id of the transaction, or why it was not created. */
export type BulkOutcome = { readonly id: number } | { readonly error: unknown };

interface Pending extends NewRow {
  readonly item: BulkItem;
  readonly setOutcome: (outcome: BulkOutcome) => void;
}

/** Reads of external ids at the same time. */
const READS_AT_ONCE = 25;

export function createManyWith(options: {
  readonly store: Pick<TransactionStore, 'findExternal' | 'nextIds' | 'add' | 'fit'>;
  /** @throws NotFoundError, ValidationError */
  readonly requireAssignable: (categoryId: number | null) => Promise<unknown>;
  readonly newTransaction: (fields: NewTransaction, id: number) => Transaction;
}) {
  const { store, requireAssignable, newTransaction } = options;

  /** @returns an outcome for each item, in the order of the items */
  return async (items: readonly BulkItem[]): Promise<BulkOutcome[]> => {
    const outcomes: (BulkOutcome | undefined)[] = items.map(() => undefined);
    await refuse(items, outcomes);
    const open = items.flatMap((item, index) => (outcomes[index] ? [] : [{ item, index }]));
    const firstId = open.length === 0 ? 0 : await store.nextIds(open.length);
    const rows = open.map(({ item, index }, n): Pending => {
      const { fields, alsoWrite = () => [] } = item;
      const transaction = newTransaction(fields, firstId + n);
      const setOutcome = (outcome: BulkOutcome) => {
        outcomes[index] = outcome;
      };
      return { item, transaction, also: alsoWrite(transaction.id), setOutcome };
    });
    await add(rows);
    return outcomes.map((outcome) => outcome ?? { error: new Error('An item has no outcome') });
  };

  /** Finds what can be refused without a write. */
  async function refuse(items: readonly BulkItem[], outcomes: (BulkOutcome | undefined)[]) {
    const byCategory = Map.groupBy(items, ({ fields }) => fields.categoryId);
    const refused = new Map<number | null, unknown>();
    await Promise.all(
      [...byCategory.keys()].map((id) =>
        requireAssignable(id).catch((error) => refused.set(id, error)),
      ),
    );
    const external: { readonly index: number; readonly externalId: string }[] = [];
    for (const [index, { fields }] of items.entries()) {
      if (refused.has(fields.categoryId))
        outcomes[index] = { error: refused.get(fields.categoryId) };
      else if (fields.externalId) external.push({ index, externalId: fields.externalId });
    }
    for (let first = 0; first < external.length; first += READS_AT_ONCE) {
      const some = external
        .slice(first, first + READS_AT_ONCE)
        .map(async ({ index, externalId }) => {
          const id = await store.findExternal(externalId);
          if (id !== undefined) outcomes[index] = { error: new DuplicateError(externalId, id) };
        });
      await Promise.all(some);
    }
  }

  async function add(rows: readonly Pending[]): Promise<void> {
    if (rows.length > 1 && !store.fit(rows)) return await addHalves(rows);
    try {
      await store.add(rows);
      for (const { transaction, setOutcome } of rows) setOutcome({ id: transaction.id });
    } catch (error) {
      if (rows.length === 1 || isFinal(error)) {
        for (const { setOutcome } of rows) setOutcome({ error });
      } else {
        const left =
          error instanceof RequestRepeatedError ? await giveUpRepeated(rows, error) : rows;
        await (left.length < rows.length ? add(left) : addHalves(rows));
      }
    }
  }

  /** Gives up the rows that an earlier attempt of the request stored. @returns the others */
  async function giveUpRepeated(rows: readonly Pending[], error: unknown) {
    const left = rows.map(async (row) => {
      try {
        if (!(await row.item.wasApplied?.())) return [row];
        row.setOutcome({ error });
      } catch (failure) {
        row.setOutcome({ error: failure });
      }
      return [];
    });
    return (await Promise.all(left)).flat();
  }

  // One half after the other: both change the same counts, and of two equal external ids the first one wins.
  async function addHalves(rows: readonly Pending[]): Promise<void> {
    const middle = Math.ceil(rows.length / 2);
    await add(rows.slice(0, middle));
    await add(rows.slice(middle));
  }
}

// Half of the rows would fail alike, or could be stored twice.
function isFinal(error: unknown): boolean {
  return error instanceof DeadlineExceededError || error instanceof OutcomeUnknownError;
}
