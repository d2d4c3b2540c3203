// POST /categories: creates a category.
import type { Category } from '../../lib/ledger/domain/category.ts';
import { parseNewCategory, toCategoryJson } from '../../lib/ledger/http/category-json.ts';
import { ledgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { idempotent } from '../../lib/ledger/http/idempotency.ts';
import { jsonBody } from '../../lib/ledger/http/json-body.ts';
import { created } from '../../lib/ledger/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return ledgerEndpoint(service, 'createCategory')
    .use(jsonBody())
    .handler(
      idempotent(async ({ ledger, json, requestContext }, remember) => {
        const { path } = requestContext.http;
        const reply = (category: Category) =>
          created(toCategoryJson(category), 'Category created successfully', path);
        const input = parseNewCategory(json);
        return reply(await ledger.categories.create(input, (created) => remember(reply(created))));
      }),
    );
}

export const handler = createHandler(createServiceFromEnvironment());
