// POST /transactions/bulk: each transaction is created or refused by itself.
import type { NewTransaction } from '../../lib/domain/transaction.ts';
import { ledgerEndpoint } from '../../lib/http/endpoint.ts';
import { replyToError } from '../../lib/http/error-reply.ts';
import { idempotentItems } from '../../lib/http/idempotency.ts';
import { jsonBody } from '../../lib/http/json-body.ts';
import { createdMany } from '../../lib/http/replies.ts';
import { parseBulk, parseNewTransaction } from '../../lib/http/transaction-json.ts';
import type { BulkOutcome } from '../../lib/ledger/bulk.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/runtime.ts';

const failure = 'Failed to create transaction';

export function createHandler(service: LedgerService) {
  return ledgerEndpoint(service, 'Failed to create transactions')
    .use(jsonBody())
    .handler(
      idempotentItems(async ({ ledger, json, context: { requestId } }, markers) => {
        const outcomes = await createEach(parseBulk(json), async (items) =>
          ledger.transactions.createMany(
            items.map(({ fields, index }) => ({
              fields,
              ...(markers && {
                alsoWrite: (id: number) => markers.record(index, id),
                findEarlier: () => markers.find(index),
              }),
            })),
          ),
        );
        const replies = outcomes.map((outcome) =>
          'id' in outcome ? outcome : replyToError(outcome.error, { requestId, failure }),
        );
        return createdMany(replies);
      }),
    );
}

interface ParsedItem {
  readonly index: number;
  readonly fields: NewTransaction;
}

/** An outcome for each body: those that are invalid are not passed on. */
async function createEach(
  bodies: readonly unknown[],
  create: (items: readonly ParsedItem[]) => Promise<readonly BulkOutcome[]>,
): Promise<BulkOutcome[]> {
  const outcomes = new Map<number, BulkOutcome>();
  const items: ParsedItem[] = [];
  for (const [index, body] of bodies.entries()) {
    try {
      items.push({ index, fields: parseNewTransaction(body) });
    } catch (error) {
      outcomes.set(index, { error });
    }
  }
  for (const [n, outcome] of (await create(items)).entries()) {
    const index = items[n]?.index;
    if (index !== undefined) outcomes.set(index, outcome);
  }
  return [...outcomes].sort(([one], [other]) => one - other).map(([, outcome]) => outcome);
}

export const handler = createHandler(serviceFromEnvironment());
