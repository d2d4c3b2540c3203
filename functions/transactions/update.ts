// PUT /transactions/{id}: changes the fields of a transaction that are sent.

import { createLedgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { loadExisting } from '../../lib/ledger/http/existing-record.ts';
import { parseJsonBody } from '../../lib/ledger/http/json-body.ts';
import { readVersionCheck } from '../../lib/ledger/http/preconditions.ts';
import { replyUpdated } from '../../lib/ledger/http/replies.ts';
import {
  parseTransactionChanges,
  toTransactionJson,
} from '../../lib/ledger/http/transaction-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createLedgerEndpoint(service, 'updateTransaction')
    .use(loadExisting(({ ledger, pathId }) => ledger.transactions.find(pathId)))
    .use(parseJsonBody())
    .handler(async ({ ledger, existing, json, headers }) => {
      const isExpected = readVersionCheck(headers, 'transaction', existing.id);
      const changes = parseTransactionChanges(json);
      const transaction = await ledger.transactions.update(existing, changes, isExpected);
      return replyUpdated(toTransactionJson(transaction), 'Transaction updated successfully');
    });
}

export const handler = createHandler(createServiceFromEnvironment());
