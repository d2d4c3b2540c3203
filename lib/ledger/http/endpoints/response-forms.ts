// Building blocks of responses: JSON schemas in the form that OpenAPI 3.0 knows.
//
// The generators of clients dictate the form. A field has one type, or one type and null. A number has a format, because Go and
// Kotlin would take 32 bits. An object has a name, because generators would name it after its place. No name begins with New,
// which marks constructors in Go. Only requests have patterns and limits: a client has no reason to refuse a response.

/** Key of the form behind a reference. JSON leaves the form out. */
const FORM: unique symbol = Symbol('form');

/** A schema that is written out, or a reference to a named one. */
export interface Field {
  readonly [FORM]?: readonly [name: string, form: Field];
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly [keyword: string]: unknown;
}
export type Fields = Readonly<Record<string, Field>>;

export const TEXT: Field = { type: 'string' };
export const ID: Field = { type: 'integer', format: 'int64', minimum: 1 };
export const NUMBER: Field = { type: 'integer', format: 'int32' };
export const COUNT: Field = { type: 'integer', format: 'int64', minimum: 0 };
export const BOOLEAN: Field = { type: 'boolean' };
export const TIME: Field = { type: 'string', format: 'date-time' };
const SUM: Field = { type: 'number', format: 'double', description: 'At most 2 decimals.' };
export const DIGEST: Field = {
  ...TEXT,
  nullable: true,
  description: 'Opaque: equal for equal sets of transactions.',
};

export const TOTALS = { income: SUM, expense: SUM, net: SUM, count: COUNT };
export const SUCCESS: Fields = { success: { ...BOOLEAN, description: 'Always true.' } };
export const DELETED = nameForm('Deleted', succeeded({ message: TEXT }));

export function reference(kind: 'schemas' | 'headers', name: string) {
  return { $ref: `#/components/${kind}/${name}` };
}

/** A reference to a schema that several endpoints share, and that cli/describe/openapi-schemas.ts defines. */
export function schema(name: string): Field {
  return reference('schemas', name);
}

/** Gives a form the name that generators give to its type. */
export function nameForm(name: string, form: Field): Field {
  return { ...schema(name), [FORM]: [name, form] };
}

/** Lists the named forms in a form, including the form itself. */
export function listNamedForms(form: unknown): (readonly [name: string, form: Field])[] {
  if (typeof form !== 'object' || form === null) return [];
  const namedForm = (form as Field)[FORM];
  return namedForm
    ? [namedForm, ...listNamedForms(namedForm[1])]
    : Object.values(form).flatMap(listNamedForms);
}

export function succeeded(fields: Fields): Field {
  return object({ ...SUCCESS, ...fields });
}

export function object(fields: Fields, optional: Fields = {}): Field {
  return {
    type: 'object',
    properties: { ...fields, ...optional },
    required: Object.keys(fields),
  };
}

export function list(items: Field, description?: string): Field {
  return { type: 'array', items, ...(description && { description }) };
}

export function oneOf(words: readonly string[]): Field {
  return { ...TEXT, enum: words };
}
