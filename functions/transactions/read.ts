// GET /transactions/{id}: shows a transaction with the name of its category.
import { createLedgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { replyIfConditionsHold } from '../../lib/ledger/http/preconditions.ts';
import { replyWithRecord } from '../../lib/ledger/http/replies.ts';
import { toTransactionJson } from '../../lib/ledger/http/transaction-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createLedgerEndpoint(service, 'readTransaction').handler(
    async ({ ledger, pathId, headers }) => {
      const transaction = await ledger.transactions.read(pathId);
      const reply = replyWithRecord(toTransactionJson(transaction));
      return replyIfConditionsHold(reply, headers, 'transaction', transaction);
    },
  );
}

export const handler = createHandler(createServiceFromEnvironment());
