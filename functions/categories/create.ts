// POST /categories: creates a category.
import type { Category } from '../../lib/ledger/domain/category.ts';
import { parseNewCategory, toCategoryJson } from '../../lib/ledger/http/category-json.ts';
import { createLedgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { makeIdempotent } from '../../lib/ledger/http/idempotency.ts';
import { parseJsonBody } from '../../lib/ledger/http/json-body.ts';
import { replyCreated } from '../../lib/ledger/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createLedgerEndpoint(service, 'createCategory')
    .use(parseJsonBody())
    .handler(
      makeIdempotent(async ({ ledger, json, requestContext }, remember) => {
        const { path } = requestContext.http;
        const reply = (category: Category) =>
          replyCreated(toCategoryJson(category), 'Category created successfully', path);
        const input = parseNewCategory(json);
        return reply(await ledger.categories.create(input, (created) => remember(reply(created))));
      }),
    );
}

export const handler = createHandler(createServiceFromEnvironment());
