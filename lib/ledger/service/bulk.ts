// Applies many changes of transactions in few database transactions. What one of them refuses is halved until the refusal
// belongs to one change: the others are applied, and each gets an outcome of its own.

import {
  DeadlineExceededError,
  OutcomeUnknownError,
  StaleRecordError,
} from '../../shared/errors.ts';
import { inBatches } from '../../shared/in-batches.ts';
import { RequestRepeatedError } from '../errors.ts';
import type { RowChange, TransactionStore } from '../store/transactions.ts';

/** Result of a change, or the reason that it was not applied. */
export type Outcome<Value> = { readonly value: Value } | { readonly error: unknown };

export interface BulkItem {
  /** Checks whether an earlier attempt of the same request applied the change. */
  readonly wasApplied?: (() => Promise<boolean>) | undefined;
}

/** A change that nothing but its write can refuse any more. */
export interface Prepared<Value> extends BulkItem {
  readonly change: RowChange;
  readonly value: Value;
  /** Decides and writes again where the row has changed since it was read. */
  readonly again?: () => Promise<Value>;
}

interface Pending<Value> extends Prepared<Value> {
  readonly setOutcome: (outcome: Outcome<Value>) => void;
}

/** Reads of items at the same time. */
const AT_ONCE = 25;

/** Runs a function for each item. @returns an outcome for each, in their order */
export async function settleEach<Item, Value>(
  items: readonly Item[],
  run: (item: Item) => Promise<Value>,
): Promise<Outcome<Value>[]> {
  return await inBatches(items, AT_ONCE, (item) =>
    run(item).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    ),
  );
}

/** @returns an outcome for each, in their order: that of its preparation where it failed there */
export async function applyMany<Value>(
  store: Pick<TransactionStore, 'write' | 'fit'>,
  prepared: readonly Outcome<Prepared<Value>>[],
): Promise<Outcome<Value>[]> {
  const outcomes: Outcome<Value>[] = prepared.map((each) =>
    'error' in each ? each : { error: new Error('A change has no outcome') },
  );
  const pending = prepared.flatMap((each, index): Pending<Value>[] => {
    if ('error' in each) return [];
    const setOutcome = (outcome: Outcome<Value>) => {
      outcomes[index] = outcome;
    };
    return [{ ...each.value, setOutcome }];
  });
  await apply(pending);
  return outcomes;

  // One part after the other: they change the same counts, and of two equal external ids the first one wins.
  async function apply(rows: readonly Pending<Value>[]): Promise<void> {
    let rest = rows;
    while (rest.length > 0) {
      const count = countFitting(rest);
      await applyTogether(rest.slice(0, count));
      rest = rest.slice(count);
    }
  }

  /** How many of the first rows fit one database transaction, at least one: each transaction pays for its counts. */
  function countFitting(rows: readonly Pending<Value>[]): number {
    const changes = rows.map(({ change }) => change);
    if (store.fit(changes)) return rows.length;
    let [fits, tooMany] = [1, rows.length];
    while (tooMany - fits > 1) {
      const middle = Math.floor((fits + tooMany) / 2);
      if (store.fit(changes.slice(0, middle))) fits = middle;
      else tooMany = middle;
    }
    return fits;
  }

  async function applyTogether(rows: readonly Pending<Value>[]): Promise<void> {
    try {
      await store.write(rows.map(({ change }) => change));
      for (const { value, setOutcome } of rows) setOutcome({ value });
    } catch (error) {
      if (isFinal(error)) {
        for (const { setOutcome } of rows) setOutcome({ error });
      } else if (rows.length === 1) {
        await Promise.all(rows.map((row) => applyAgain(row, error)));
      } else {
        const left =
          error instanceof RequestRepeatedError ? await giveUpRepeated(rows, error) : rows;
        await (left.length < rows.length ? apply(left) : applyHalves(rows));
      }
    }
  }

  async function applyAgain({ again, setOutcome }: Pending<Value>, error: unknown) {
    if (!again || !(error instanceof StaleRecordError)) return setOutcome({ error });
    const [outcome = { error }] = await settleEach([again], (attempt) => attempt());
    setOutcome(outcome);
  }

  /** Gives up the rows that an earlier attempt of the request applied. @returns the others */
  async function giveUpRepeated(rows: readonly Pending<Value>[], error: unknown) {
    const left = rows.map(async (row) => {
      try {
        if (!(await row.wasApplied?.())) return [row];
        row.setOutcome({ error });
      } catch (failure) {
        row.setOutcome({ error: failure });
      }
      return [];
    });
    return (await Promise.all(left)).flat();
  }

  async function applyHalves(rows: readonly Pending<Value>[]): Promise<void> {
    const middle = Math.ceil(rows.length / 2);
    await apply(rows.slice(0, middle));
    await apply(rows.slice(middle));
  }
}

// Half of the rows would fail alike, or could be written twice.
function isFinal(error: unknown): boolean {
  return error instanceof DeadlineExceededError || error instanceof OutcomeUnknownError;
}
