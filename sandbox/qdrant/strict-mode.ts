// Strict mode of a collection: what it forbids of the calls the migration makes.
import type { Schemas } from '@qdrant/js-client-rest';
import type { Collection } from './collection.ts';
import { keysOf } from './filters.ts';
import { Refusal } from './refusal.ts';

interface StrictQuery {
  readonly limit?: number | null | undefined;
  readonly exact?: boolean | null | undefined;
  readonly filter?: unknown;
}

export function checkRead({ strictMode, indexes }: Collection, query: StrictQuery): void {
  if (!strictMode.enabled) return;
  const { limit, exact, filter } = query;
  const { max_query_limit: longest } = strictMode;
  if (limit && longest && limit > longest) {
    throw forbidden(
      `Limit exceeded ${limit} > ${longest} for "limit".`,
      'Reduce the "limit" parameter',
    );
  }
  if (exact && strictMode.search_allow_exact === false) {
    throw forbidden('Exact search is disabled!', 'Set "exact" to false');
  }
  const unindexed = keysOf(filter as Schemas['Filter']).find((key) => !indexes.has(key));
  if (unindexed !== undefined && strictMode.unindexed_filtering_retrieve === false) {
    throw indexRequired(unindexed);
  }
}

export function checkDeletion({ strictMode, indexes }: Collection, filter: unknown): void {
  if (!strictMode.enabled || strictMode.unindexed_filtering_update !== false) return;
  const unindexed = keysOf(filter as Schemas['Filter']).find((key) => !indexes.has(key));
  if (unindexed !== undefined) throw indexRequired(unindexed);
}

export function checkUpsert({ strictMode }: Collection, points: number): void {
  const { enabled, upsert_max_batchsize: largest } = strictMode;
  if (enabled && largest && points > largest) {
    throw forbidden(`Upsert limit exceeded ${points} > ${largest} for upsert.`, 'Reduce the batch');
  }
}

function indexRequired(key: string): Refusal {
  return forbidden(`Index required but not found for "${key}".`, 'Create an index for it');
}

function forbidden(what: string, help: string): Refusal {
  return new Refusal(400, `Bad request: Strict mode error: ${what} Help: ${help}`);
}
