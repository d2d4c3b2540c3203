// Building blocks of responses: JSON schemas in the dialect of OpenAPI 3.0.
//
// Client generators dictate their form. A field has one type, or one type and null. A number has a format, because Go and Kotlin
// would take 32 bits. An object has a name, because generators would name it after its place. No name begins with New, which
// marks constructors in Go. Only requests have patterns and limits: a client has no reason to refuse a response.

/** Key of the named schema behind a reference. JSON omits it. */
const NAMED_SCHEMA: unique symbol = Symbol('named schema');

/** A schema that is written out, or a reference to a named one. */
export interface Field {
  readonly [NAMED_SCHEMA]?: readonly [name: string, schema: Field];
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly [keyword: string]: unknown;
}
export type Fields = Readonly<Record<string, Field>>;

export const STRING: Field = { type: 'string' };
export const ID: Field = { type: 'integer', format: 'int64', minimum: 1 };
export const INTEGER: Field = { type: 'integer', format: 'int32' };
export const COUNT: Field = { type: 'integer', format: 'int64', minimum: 0 };
export const BOOLEAN: Field = { type: 'boolean' };
export const TIME: Field = { type: 'string', format: 'date-time' };
const SUM: Field = { type: 'number', format: 'double', description: 'At most 2 decimals.' };
export const DIGEST: Field = {
  ...STRING,
  nullable: true,
  description: 'Opaque: equal for equal sets of transactions.',
};

export const TOTALS = { income: SUM, expense: SUM, net: SUM, count: COUNT };
export const SUCCESS: Fields = { success: { ...BOOLEAN, description: 'Always true.' } };
export const DELETED = nameSchema('Deleted', succeeded({ message: STRING }));

export function reference(kind: 'schemas' | 'headers', name: string) {
  return { $ref: `#/components/${kind}/${name}` };
}

/** A reference to a schema that several endpoints share, and that cli/describe/openapi-schemas.ts defines. */
export function schemaRef(name: string): Field {
  return reference('schemas', name);
}

/** Names a schema: client generators give its type this name. */
export function nameSchema(name: string, schema: Field): Field {
  return { ...schemaRef(name), [NAMED_SCHEMA]: [name, schema] };
}

/** Lists the named schemas in a schema, including the schema itself. */
export function listNamedSchemas(value: unknown): (readonly [name: string, schema: Field])[] {
  if (typeof value !== 'object' || value === null) return [];
  const namedSchema = (value as Field)[NAMED_SCHEMA];
  return namedSchema
    ? [namedSchema, ...listNamedSchemas(namedSchema[1])]
    : Object.values(value).flatMap(listNamedSchemas);
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
  return { ...STRING, enum: words };
}
