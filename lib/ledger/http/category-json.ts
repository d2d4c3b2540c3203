// The JSON of a category, in requests and in responses.
import * as v from 'valibot';
import type { Category, CategoryChanges, CategoryFields } from '../domain/category.ts';
import { text, trimmedText } from '../domain/text.ts';
import { ASSIGNED, ignored, omitUndefined, parseBody, parseFilter } from './fields.ts';
import { makeTag } from './preconditions.ts';
import type { Query } from './query-string.ts';

/** Fields of a category that the client sets. */
export const categoryFields = v.object(
  {
    name: trimmedText(255),
    description: v.exactOptional(v.nullable(text(1_000))),
    color: v.exactOptional(
      v.nullable(
        v.pipe(
          v.string('Must be a string.'),
          v.regex(
            /^#([0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$/,
            'Must be a hex color code such as #1A2B3C.',
          ),
        ),
      ),
    ),
    is_active: v.exactOptional(v.boolean('Must be true or false.')),
  },
  'Is required.',
);

export const newCategoryBody = v.object(
  { ...ASSIGNED, transaction_count: ignored, ...categoryFields.entries },
  'Is required.',
);

export const categoryChangesBody = v.partial(newCategoryBody);

/** @throws ValidationError with the errors of every field */
export function parseNewCategory(body: Readonly<Record<string, unknown>>): CategoryFields {
  const input = parseBody(newCategoryBody, body);
  return {
    name: input.name,
    description: input.description ?? null,
    color: input.color ?? null,
    isActive: input.is_active ?? true,
  };
}

/**
 * Parses only the fields that the client sent.
 * @throws ValidationError with the errors of every field
 */
export function parseCategoryChanges(body: Readonly<Record<string, unknown>>): CategoryChanges {
  const input = parseBody(categoryChangesBody, body);
  return omitUndefined({
    name: input.name,
    description: input.description,
    color: input.color,
    isActive: input.is_active,
  });
}

/**
 * Returns the JSON of a category. Empty fields are null. The ETag is always that of a single read.
 * @param includesCount adds `transaction_count`, for single reads and for lists with counts
 */
export function toCategoryJson(category: Category, { includesCount = false } = {}) {
  const fields = toJsonWithoutCount(category);
  const fieldsWithCount = { ...fields, transaction_count: category.transactionCount };
  return {
    ...(includesCount ? fieldsWithCount : fields),
    etag: makeTag('category', category, fieldsWithCount),
  };
}

function toJsonWithoutCount(category: Category) {
  return {
    id: category.id,
    name: category.name,
    description: category.description,
    color: category.color,
    is_active: category.isActive,
    created_at: new Date(category.createdAt).toISOString(),
    updated_at: new Date(category.updatedAt).toISOString(),
  };
}

export interface CategoryQuery {
  readonly activeOnly: boolean;
  readonly includeCounts: boolean;
}

// The rule of docs/ledger/api.md: "true", ignoring case, is true; any other value is false.
const booleanWord = v.pipe(
  v.string(),
  v.transform((value) => value.toLowerCase() === 'true'),
  v.metadata({ type: 'boolean' }),
);

export const categoryQuery = v.object({
  active_only: v.exactOptional(booleanWord),
  include_counts: v.exactOptional(booleanWord),
});

/** @throws ValidationError for an unknown parameter */
export function parseCategoryQuery(query: Query): CategoryQuery {
  const { active_only: activeOnly = true, include_counts: includeCounts = false } = parseFilter(
    categoryQuery,
    query,
  );
  return { activeOnly, includeCounts };
}
