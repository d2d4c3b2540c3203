// What a category list may be asked for.

export interface CategoryQuery {
  readonly activeOnly: boolean;
  readonly includeCounts: boolean;
}

export function parseCategoryQuery(
  query: Readonly<Record<string, string | undefined>>,
): CategoryQuery {
  return {
    activeOnly: isTrue(query.active_only ?? 'true'),
    includeCounts: isTrue(query.include_counts ?? 'false'),
  };
}

// The service document's rule: true is the word alone, in any case; any other value is false.
function isTrue(value: string): boolean {
  return value.toLowerCase() === 'true';
}
