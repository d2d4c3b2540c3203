// Opens a ledger for a program or a test, which serves no request and so has no deadline.
import {
  createLedgerService,
  type Ledger,
  type LedgerServiceOptions,
} from '../../lib/ledger/ledger.ts';
import { LONG_TIMEOUTS } from '../../lib/shared/database.ts';

export function openLedger(options: LedgerServiceOptions & { readonly ledgerId: string }): Ledger {
  return createLedgerService({ timeouts: LONG_TIMEOUTS, ...options }).openLedger({
    deadline: Number.POSITIVE_INFINITY,
    signal: new AbortController().signal,
    requestId: 'local',
    ledger: options.ledgerId,
  });
}
