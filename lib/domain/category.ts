// A category: its fields, and what a client may say of them.
import * as v from 'valibot';
import { parseBody, sentOnly } from './fields.ts';
import type { Revision } from './revision.ts';
import { text, trimmedText } from './text.ts';

/** What a client decides of a category. */
export interface CategoryFields {
  /** Trimmed; unique in its ledger, byte for byte. */
  readonly name: string;
  readonly description: string | null;
  /** `#RGB`, `#RGBA`, `#RRGGBB` or `#RRGGBBAA`, as it was sent. */
  readonly color: string | null;
  readonly isActive: boolean;
}

/** A transaction that is counted is no write of its category: it moves no revision. */
export interface Category extends CategoryFields, Revision {
  readonly id: number;
  readonly transactionCount: number;
}

export type CategoryChanges = Partial<CategoryFields>;

const newCategoryBody = v.object(
  {
    name: trimmedText(255),
    description: v.exactOptional(v.nullable(text(1_000))),
    color: v.exactOptional(
      v.nullable(
        v.pipe(
          v.string('Must be a string.'),
          v.regex(
            /^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i,
            'Must be a hex color code such as #1A2B3C.',
          ),
        ),
      ),
    ),
    is_active: v.exactOptional(v.boolean('Must be true or false.')),
  },
  'Is required.',
);

const categoryChangesBody = v.partial(newCategoryBody);

/** @throws ValidationError with the faults of every field */
export function parseNewCategory(body: Readonly<Record<string, unknown>>): CategoryFields {
  const sent = parseBody(newCategoryBody, body);
  return {
    name: sent.name,
    description: sent.description ?? null,
    color: sent.color ?? null,
    isActive: sent.is_active ?? true,
  };
}

/**
 * Only the fields that were sent.
 * @throws ValidationError with the faults of every field
 */
export function parseCategoryChanges(body: Readonly<Record<string, unknown>>): CategoryChanges {
  const sent = parseBody(categoryChangesBody, body);
  return sentOnly({
    name: sent.name,
    description: sent.description,
    color: sent.color,
    isActive: sent.is_active,
  });
}

/** By name, in the order of its bytes, then by id. */
export function byName(one: Category, other: Category): number {
  return Buffer.compare(Buffer.from(one.name), Buffer.from(other.name)) || one.id - other.id;
}
