// The parameters of a category list.
import * as v from 'valibot';
import { parseFilter } from './fields.ts';

export interface CategoryQuery {
  readonly activeOnly: boolean;
  readonly includeCounts: boolean;
}

// The service document's rule: the word "true" in any case is true; any other value is false.
const truth = v.pipe(
  v.string(),
  v.transform((value) => value.toLowerCase() === 'true'),
);

const categoryQuery = v.object({
  active_only: v.exactOptional(truth),
  include_counts: v.exactOptional(truth),
});

/** @throws ValidationError for an unknown parameter */
export function parseCategoryQuery(
  query: Readonly<Record<string, string | undefined>>,
): CategoryQuery {
  const { active_only: activeOnly = true, include_counts: includeCounts = false } = parseFilter(
    categoryQuery,
    query,
  );
  return { activeOnly, includeCounts };
}
