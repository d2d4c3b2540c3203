// A ledger for a program or a test that serves no request: no deadline, and time limits that no busy machine reaches.
import {
  createLedgerService,
  type Ledger,
  type LedgerServiceOptions,
} from '../lib/ledger/ledger.ts';
import type { Timeouts } from '../lib/store/database.ts';

/** Of one call of the database. */
export const LONG_TIMEOUTS: Timeouts = { callMs: 60_000, outcomeMs: 60_000, outcomeCallMs: 10_000 };

export function openLedger(options: LedgerServiceOptions & { readonly ledgerId: string }): Ledger {
  return createLedgerService({ timeouts: LONG_TIMEOUTS, ...options }).openLedger({
    deadline: Number.POSITIVE_INFINITY,
    signal: new AbortController().signal,
    requestId: 'local',
    ledger: options.ledgerId,
  });
}
