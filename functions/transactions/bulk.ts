// POST /transactions/bulk: each transaction is created or refused by itself.
import { runValid, toFailedItem } from '../../lib/http/bulk-reply.ts';
import { ledgerEndpoint } from '../../lib/http/endpoint.ts';
import { idempotentItems } from '../../lib/http/idempotency.ts';
import { jsonBody } from '../../lib/http/json-body.ts';
import { parseBulk, parseNewTransaction } from '../../lib/http/transaction-json.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/runtime.ts';

const words = {
  counted: { 201: 'created', 409: 'duplicates' },
  failure: 'Failed to create transaction',
};

const toResult = (id: number) => ({ status: 201, id });

export function createHandler(service: LedgerService) {
  return ledgerEndpoint(service, 'Failed to create transactions')
    .use(jsonBody())
    .handler(
      idempotentItems({
        ...words,
        items: parseBulk,
        run: ({ ledger }, bodies, markers) =>
          runValid(bodies, { ...words, parse: parseNewTransaction }, async (items) => {
            const outcomes = await ledger.transactions.createMany(
              items.map(({ fields, index }) => ({
                fields,
                ...(markers && {
                  alsoWrite: (id: number) => markers.record(index, toResult(id)),
                  wasApplied: async () => (await markers.find(index)) !== undefined,
                }),
              })),
            );
            return outcomes.map((outcome) =>
              'id' in outcome
                ? { result: toResult(outcome.id) }
                : toFailedItem(outcome.error, words),
            );
          }),
      }),
    );
}

export const handler = createHandler(serviceFromEnvironment());
