// The schemas of the OpenAPI document: the bodies of requests, the records in responses, and the responses that endpoints
// declare.
import { type ConversionConfig, type JsonSchema, toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { TRANSACTION_TYPES } from '../../lib/ledger/domain/transaction.ts';
import { categoryFields } from '../../lib/ledger/http/category-json.ts';
import type { Body } from '../../lib/ledger/http/endpoints/endpoint-declaration.ts';
import { ENDPOINTS_BY_ROUTE } from '../../lib/ledger/http/endpoints/endpoints-by-route.ts';
import {
  BOOLEAN,
  COUNT,
  type Field,
  type Fields,
  ID,
  INTEGER,
  list,
  listNamedSchemas,
  object,
  oneOf,
  reference,
  STRING,
  schemaRef,
  TIME,
} from '../../lib/ledger/http/endpoints/response-schemas.ts';
import type { ObjectSchema } from '../../lib/ledger/http/fields.ts';
import { ERROR_CODES } from '../../lib/ledger/http/replies.ts';
import { transactionFields } from '../../lib/ledger/http/transaction-json.ts';

const ETAG: Field = { ...STRING, description: 'The value for `If-Match`, with its quotes.' };

/** The bodies of requests by the names of their schemas. */
const BODIES: Readonly<Record<string, ObjectSchema>> = Object.fromEntries(
  Object.values(ENDPOINTS_BY_ROUTE).flatMap(({ body }) => (body ? listBodies(body) : [])),
);

function listBodies({ name, schema, item }: Body): (readonly [string, ObjectSchema])[] {
  return [...(item ? listBodies(item) : []), [name, schema]];
}

const CONVERSION: ConversionConfig = {
  target: 'openapi-3.0',
  // Describes the last schema of a pipeline: for example, a name after trimming.
  typeMode: 'output',
  // These actions need no description: metadata describes the checks, and trimming accepts every string.
  ignoreActions: ['check', 'trim'],
  overrideRef: ({ referenceId }) => reference('schemas', referenceId).$ref,
  overrideAction({ valibotAction, jsonSchema }) {
    const { type, metadata, operation } = valibotAction as {
      readonly type: string;
      readonly metadata?: JsonSchema;
      readonly operation?: unknown;
    };
    if (type === 'metadata') return { ...jsonSchema, ...metadata };
    if (type !== 'transform') return undefined;
    // In a query an integer arrives as a string of decimal digits, which the schema converts.
    return operation === Number ? { type: 'integer', minimum: 0 } : jsonSchema;
  },
};

/** Describes the fields of a body or the parameters of a query, and lists the required ones. */
export function describeFields(schema: ObjectSchema) {
  const otherBodies = Object.entries(BODIES).filter(([, body]) => body !== schema);
  const { properties = {}, required = [] } = toJsonSchema(schema as v.GenericSchema, {
    ...CONVERSION,
    definitions: Object.fromEntries(otherBodies) as Record<string, v.GenericSchema>,
  });
  const fields = Object.entries(properties as unknown as Fields).map(([name, field]) => [
    name,
    name in READ_ONLY && isUntyped(field)
      ? { ...READ_ONLY[name], readOnly: true, description: field.description }
      : makePortable(field),
  ]);
  return { fields: Object.fromEntries(fields) as Fields, required };
}

function isUntyped(field: Field): boolean {
  return !('type' in field || '$ref' in field || 'anyOf' in field);
}

function makePortable({ anyOf, ...field }: Field): Field {
  if (String(field.enum) === String(TRANSACTION_TYPES)) return schemaRef('TransactionType');
  const merged = Array.isArray(anyOf) ? { ...anyOf[0], ...field } : field;
  return merged.type === 'integer' ? { ...merged, format: 'int64' } : merged;
}

/** Fields that a body accepts only so that clients can send back a record that they read; the service ignores the values. */
const READ_ONLY: Fields = {
  id: ID,
  created_at: TIME,
  updated_at: TIME,
  category_name: STRING,
  transaction_count: COUNT,
  etag: STRING,
  import_id: { ...STRING, nullable: true },
};

/** Describes a body, which accepts known fields only. */
function describeBody(body: ObjectSchema) {
  const { fields, required } = describeFields(body);
  return {
    type: 'object',
    properties: fields,
    ...(required.length > 0 && { required }),
    minProperties: 1,
    additionalProperties: false,
  };
}

/** Describes a record, which has all fields of a body and the fields that the service assigns. */
function describeRecord(body: ObjectSchema, optionalFields: Fields) {
  const fields = Object.entries(describeFields(body).fields)
    .filter(([name]) => !(name in optionalFields))
    .map(([name, field]) => [name, removeLimits(field)]);
  const assignedFields = { created_at: TIME, updated_at: TIME, etag: ETAG };
  return object({ id: ID, ...Object.fromEntries(fields), ...assignedFields }, optionalFields);
}

function removeLimits(field: Field): Field {
  const keptKeywords = ['$ref', 'type', 'format', 'nullable', 'enum', 'description'];
  return Object.fromEntries(
    Object.entries(field).filter(([keyword]) => keptKeywords.includes(keyword)),
  );
}

/** Collects the named schemas of all responses. */
function describeResponses(): Fields {
  return Object.fromEntries(
    Object.values(ENDPOINTS_BY_ROUTE).flatMap(({ response }) => listNamedSchemas(response)),
  );
}

/** All schemas of the document by name. */
export const SCHEMAS: Readonly<Record<string, Field>> = {
  ...Object.fromEntries(Object.entries(BODIES).map(([name, body]) => [name, describeBody(body)])),
  TransactionType: oneOf(TRANSACTION_TYPES),
  Transaction: describeRecord(transactionFields, {
    category_name: STRING,
    external_id: STRING,
    import_id: { ...STRING, description: 'The id of the import that created the transaction.' },
  }),
  Category: describeRecord(categoryFields, {
    transaction_count: {
      ...COUNT,
      description: 'Only in single reads, and in lists requested with counts.',
    },
  }),
  Pagination: object({
    page: { ...COUNT, nullable: true, description: 'Null with `after`.' },
    per_page: INTEGER,
    total: COUNT,
    pages: COUNT,
    has_next: BOOLEAN,
    has_prev: BOOLEAN,
    next_cursor: {
      ...STRING,
      nullable: true,
      description: 'Send it as `after` to get the next page; null at the end.',
    },
  }),
  ...describeResponses(),
  ErrorCode: oneOf(ERROR_CODES),
  FieldErrors: {
    type: 'object',
    description: 'The messages of each invalid field.',
    additionalProperties: list(STRING),
  },
  Failure: object(
    {
      success: { ...BOOLEAN, description: 'Always false.' },
      error: schemaRef('ErrorCode'),
      message: STRING,
    },
    {
      details: schemaRef('FieldErrors'),
      existing_id: {
        ...ID,
        description: 'The id of the record that has the `external_id` or the name.',
      },
    },
  ),
  GatewayFailure: object({ message: STRING }, { success: BOOLEAN, error: schemaRef('ErrorCode') }),
};
