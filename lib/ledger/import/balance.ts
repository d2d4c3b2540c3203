// Checks amounts against the file's balances: two consecutive balances differ by the amount of the booking between them.

interface RowWithBalance {
  readonly signed: number;
  readonly balance: number | null;
}

export interface BalanceAgreement {
  /** Number of consecutive rows that both have a balance. */
  readonly pairs: number;
  /** Number of pairs whose balances differ by the amount. */
  readonly agreeing: number;
  /** Number of pairs whose balances differ by the amount with the opposite sign. */
  readonly reversed: number;
}

/** @param rows in the order of the file, oldest or newest first */
export function compareWithBalances(rows: readonly RowWithBalance[]): BalanceAgreement {
  const forward = countPairs(rows, 1);
  const backward = countPairs(rows, 0);
  const weight = ({ agreeing, reversed }: BalanceAgreement) => Math.max(agreeing, reversed);
  return weight(backward) > weight(forward) ? backward : forward;
}

/** @param laterIndex 1 if the second of two rows is the later one (oldest first), 0 if the first is */
function countPairs(rows: readonly RowWithBalance[], laterIndex: 0 | 1): BalanceAgreement {
  let agreeing = 0;
  let reversed = 0;
  let pairs = 0;
  for (let n = 1; n < rows.length; n += 1) {
    const after = rows[n - 1 + laterIndex];
    const before = rows[n - laterIndex];
    if (after?.balance == null || before?.balance == null || after.signed === 0) continue;
    const difference = toCents(after.balance) - toCents(before.balance);
    pairs += 1;
    if (difference === toCents(after.signed)) agreeing += 1;
    else if (difference === -toCents(after.signed)) reversed += 1;
  }
  return { agreeing, reversed, pairs };
}

function toCents(amount: number): number {
  return Math.round(amount * 100);
}
