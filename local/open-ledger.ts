// A ledger for a program or a test that serves no request: without a deadline.
import {
  createLedgerService,
  type Ledger,
  type LedgerServiceOptions,
} from '../lib/ledger/ledger.ts';

export function openLedger(options: LedgerServiceOptions & { readonly ledgerId: string }): Ledger {
  return createLedgerService(options).openLedger({
    deadline: Number.POSITIVE_INFINITY,
    signal: new AbortController().signal,
    requestId: 'local',
    ledger: options.ledgerId,
  });
}
