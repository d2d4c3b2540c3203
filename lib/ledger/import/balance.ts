// Checks amounts against balances: two consecutive balances of a file differ by the amount of the entry between them.

interface RowWithBalance {
  readonly signed: number;
  readonly balance: number | null;
}

export interface BalanceComparison {
  /** Number of consecutive rows that both have a balance. */
  readonly pairCount: number;
  /** Number of pairs whose balances differ by the amount. */
  readonly agreeingCount: number;
  /** Number of pairs whose balances differ by the amount with the opposite sign. */
  readonly reversedCount: number;
}

/** @param rows in the order of the file, oldest or newest first */
export function compareWithBalances(rows: readonly RowWithBalance[]): BalanceComparison {
  const forward = countPairs(rows, 1);
  const backward = countPairs(rows, 0);
  const countMatches = ({ agreeingCount, reversedCount }: BalanceComparison) =>
    Math.max(agreeingCount, reversedCount);
  return countMatches(backward) > countMatches(forward) ? backward : forward;
}

/** @param laterIndex 1 if the second of two rows is the later one (oldest first), 0 if the first is */
function countPairs(rows: readonly RowWithBalance[], laterIndex: 0 | 1): BalanceComparison {
  let agreeingCount = 0;
  let reversedCount = 0;
  let pairCount = 0;
  for (let n = 1; n < rows.length; n += 1) {
    const laterRow = rows[n - 1 + laterIndex];
    const earlierRow = rows[n - laterIndex];
    if (laterRow?.balance == null || earlierRow?.balance == null || laterRow.signed === 0) continue;
    const difference = toCents(laterRow.balance) - toCents(earlierRow.balance);
    pairCount += 1;
    if (difference === toCents(laterRow.signed)) agreeingCount += 1;
    else if (difference === -toCents(laterRow.signed)) reversedCount += 1;
  }
  return { agreeingCount, reversedCount, pairCount };
}

function toCents(amount: number): number {
  return Math.round(amount * 100);
}
