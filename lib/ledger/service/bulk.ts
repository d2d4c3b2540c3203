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
  if (pending.length > 0) await apply(pending);
  return outcomes;

  async function apply(rows: readonly Pending<Value>[]): Promise<void> {
    const changes = rows.map(({ change }) => change);
    if (rows.length > 1 && !store.fit(changes)) return await applyHalves(rows);
    try {
      await store.write(changes);
      for (const { value, setOutcome } of rows) setOutcome({ value });
    } catch (error) {
      if (isFinal(error)) {
        for (const { setOutcome } of rows) setOutcome({ error });
      } else if (rows.length === 1) {
        await Promise.all(rows.map((row) => applyAgain(row, error)));
      } else {
        const left =
          error instanceof RequestRepeatedError ? await giveUpRepeated(rows, error) : rows;
        await (left.length < rows.length ? applyRest(left) : applyHalves(rows));
      }
    }
  }

  async function applyRest(rows: readonly Pending<Value>[]): Promise<void> {
    if (rows.length > 0) await apply(rows);
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

  // One half after the other: both change the same counts, and of two equal external ids the first one wins.
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
