// Applies many changes to transactions in few database transactions. If the database refuses one of these, it is split in
// halves, until only single changes are refused and all others are applied. Each change has its own outcome.

import {
  DeadlineExceededError,
  OutcomeUnknownError,
  StaleRecordError,
} from '../../shared/errors.ts';
import { runInBatches } from '../../shared/run-in-batches.ts';
import { RequestRepeatedError } from '../errors.ts';
import type { Remember } from '../store/idempotency.ts';
import type { PreparedCommit, RowChange, TransactionStore } from '../store/transactions.ts';

/** Result of an item, or the reason that it was not applied. */
export type Outcome<Value> = { readonly value: Value } | { readonly error: unknown };

/** An item of a request with an idempotency key has a marker, which is committed with the item's change. */
export interface WithIdempotencyMarker<Value> {
  readonly marker?: IdempotencyMarker<Value> | undefined;
}

export interface IdempotencyMarker<Value> {
  readonly remember: Remember<Value>;
  /** Checks whether an earlier attempt of the same request applied the item. */
  readonly wasApplied: () => Promise<boolean>;
}

/** A change that passed every check; only its commit can still be refused. */
export interface PreparedChange<Value> extends WithIdempotencyMarker<Value> {
  readonly rowChange: RowChange;
  readonly value: Value;
  /** Applies the change to the current row. Called if another request changed the row after it was read. */
  readonly reapply?: () => Promise<Value>;
}

const READ_CONCURRENCY = 25;

/**
 * Runs a function for each item.
 * @returns an outcome for each item, in the order of the items
 */
export async function settleEach<Item, Value>(
  items: readonly Item[],
  run: (item: Item) => Promise<Value>,
): Promise<Outcome<Value>[]> {
  return await runInBatches(items, READ_CONCURRENCY, (item) =>
    run(item).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    ),
  );
}

/** @returns an outcome for each change, in order; a change that could not be prepared keeps its error */
export async function applyMany<Value>(
  store: Pick<TransactionStore, 'prepare'>,
  preparedChanges: readonly Outcome<PreparedChange<Value>>[],
): Promise<Outcome<Value>[]> {
  type Row = PreparedChange<Value> & { readonly index: number };
  type Rows = readonly [Row, ...Row[]];

  const outcomes: Outcome<Value>[] = preparedChanges.map((each) =>
    'error' in each ? each : { error: new Error('A change has no outcome') },
  );
  await apply(
    preparedChanges.flatMap((each, index) => ('error' in each ? [] : [{ ...each.value, index }])),
  );
  return outcomes;

  // Applies the parts one after the other: they change the same counts, and the first of two equal external ids must win.
  async function apply(rows: readonly Row[]): Promise<void> {
    let remainingRows = rows;
    while (isNonEmpty(remainingRows)) {
      const { count, commit } = prepareLargestPart(remainingRows);
      await applyTogether(remainingRows.slice(0, count), commit);
      remainingRows = remainingRows.slice(count);
    }
  }

  /**
   * Prepares as many of the first rows as fit into one database transaction, at least one. Fewer database transactions write
   * fewer counts.
   */
  function prepareLargestPart([first, ...others]: Rows): PreparedCommit & {
    readonly count: number;
  } {
    const prepareFirst = (count: number) => {
      const followingChanges = others.slice(0, count - 1).map(({ rowChange }) => rowChange);
      return { count, ...store.prepare([first.rowChange, ...followingChanges]) };
    };
    const wholePart = prepareFirst(1 + others.length);
    if (wholePart.fits) return wholePart;
    let largestPart = prepareFirst(1);
    let excessiveCount = wholePart.count;
    while (excessiveCount - largestPart.count > 1) {
      const middlePart = prepareFirst(Math.floor((largestPart.count + excessiveCount) / 2));
      if (middlePart.fits) largestPart = middlePart;
      else excessiveCount = middlePart.count;
    }
    return largestPart;
  }

  async function applyTogether(rows: readonly Row[], commit: PreparedCommit['commit']) {
    try {
      await commit();
      for (const { index, value } of rows) outcomes[index] = { value };
    } catch (error) {
      if (isFinal(error)) {
        for (const { index } of rows) outcomes[index] = { error };
      } else if (rows.length === 1) {
        await Promise.all(rows.map((row) => reapplyRow(row, error)));
      } else {
        const unappliedRows =
          error instanceof RequestRepeatedError ? await excludeApplied(rows, error) : rows;
        await (unappliedRows.length < rows.length ? apply(unappliedRows) : applyHalves(rows));
      }
    }
  }

  async function reapplyRow({ index, reapply }: Row, error: unknown) {
    const attempts = reapply && error instanceof StaleRecordError ? [reapply] : [];
    const [outcome = { error }] = await settleEach(attempts, (attempt) => attempt());
    outcomes[index] = outcome;
  }

  /**
   * Excludes the rows that an earlier attempt of the request applied. Each of them gets the error, and `restoreReplies` later
   * replaces the error with the reply of that attempt.
   * @returns the other rows
   */
  async function excludeApplied(rows: readonly Row[], error: unknown) {
    const checks = rows.map(async (row) => {
      try {
        if (!(await row.marker?.wasApplied())) return [row];
        outcomes[row.index] = { error };
      } catch (failure) {
        outcomes[row.index] = { error: failure };
      }
      return [];
    });
    return (await Promise.all(checks)).flat();
  }

  async function applyHalves(rows: readonly Row[]): Promise<void> {
    const middle = Math.ceil(rows.length / 2);
    await apply(rows.slice(0, middle));
    await apply(rows.slice(middle));
  }

  function isNonEmpty(rows: readonly Row[]): rows is Rows {
    return rows.length > 0;
  }
}

// True for an error after which halves must not be tried: they would fail too, or could be written twice.
function isFinal(error: unknown): boolean {
  return error instanceof DeadlineExceededError || error instanceof OutcomeUnknownError;
}
