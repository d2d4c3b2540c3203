// PUT /transactions/{id}: changes the fields of a transaction that are sent.

import { ledgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { loadExisting } from '../../lib/ledger/http/existing-record.ts';
import { jsonBody } from '../../lib/ledger/http/json-body.ts';
import { readVersionCheck } from '../../lib/ledger/http/preconditions.ts';
import { updated } from '../../lib/ledger/http/replies.ts';
import {
  parseTransactionChanges,
  toTransactionJson,
} from '../../lib/ledger/http/transaction-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return ledgerEndpoint(service, 'updateTransaction')
    .use(loadExisting(({ ledger, pathId }) => ledger.transactions.find(pathId)))
    .use(jsonBody())
    .handler(async ({ ledger, existing, json, headers }) => {
      const isExpected = readVersionCheck(headers, 'transaction', existing.id);
      const changes = parseTransactionChanges(json);
      const transaction = await ledger.transactions.update(existing, changes, isExpected);
      return updated(toTransactionJson(transaction), 'Transaction updated successfully');
    });
}

export const handler = createHandler(createServiceFromEnvironment());
