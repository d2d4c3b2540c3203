// PUT /categories/{id}: changes the fields of a category that are sent.
import { parseCategoryChanges, toCategoryJson } from '../../lib/ledger/http/category-json.ts';
import { createLedgerEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { loadExisting } from '../../lib/ledger/http/existing-record.ts';
import { parseJsonBody } from '../../lib/ledger/http/json-body.ts';
import { readVersionCheck } from '../../lib/ledger/http/preconditions.ts';
import { replyUpdated } from '../../lib/ledger/http/replies.ts';
import type { LedgerService } from '../../lib/ledger/ledger.ts';
import { createServiceFromEnvironment } from '../../lib/ledger/runtime.ts';

export function createHandler(service: LedgerService) {
  return createLedgerEndpoint(service, 'updateCategory')
    .use(loadExisting(({ ledger, pathId }) => ledger.categories.find(pathId)))
    .use(parseJsonBody())
    .handler(async ({ ledger, existing, json, headers }) => {
      const isExpected = readVersionCheck(headers, 'category', existing.id);
      const changes = parseCategoryChanges(json);
      const category = await ledger.categories.update(existing, changes, isExpected);
      return replyUpdated(toCategoryJson(category), 'Category updated successfully');
    });
}

export const handler = createHandler(createServiceFromEnvironment());
