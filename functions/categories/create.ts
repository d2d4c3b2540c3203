// POST /categories
import type { Category } from '../../lib/domain/category.ts';
import { categoryTag, parseNewCategory, toCategoryJson } from '../../lib/http/category-json.ts';
import { ledgerEndpoint } from '../../lib/http/endpoint.ts';
import { idempotent } from '../../lib/http/idempotency.ts';
import { jsonBody } from '../../lib/http/json-body.ts';
import { tagged } from '../../lib/http/preconditions.ts';
import { created } from '../../lib/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { serviceFromEnvironment } from '../../lib/runtime.ts';

export function createHandler(service: LedgerService) {
  return ledgerEndpoint(service, 'Failed to create category')
    .use(jsonBody())
    .handler(
      idempotent(async ({ ledger, json }, record) => {
        const reply = (category: Category) =>
          tagged(
            created(toCategoryJson(category), 'Category created successfully'),
            categoryTag(category),
          );
        const input = parseNewCategory(json);
        return reply(await ledger.categories.create(input, (made) => record(reply(made))));
      }),
    );
}

export const handler = createHandler(serviceFromEnvironment());
