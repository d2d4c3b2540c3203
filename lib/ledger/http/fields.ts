// Parses what a client sent into typed fields, or reports every error of every field.
import * as v from 'valibot';
import { type FieldErrors, ValidationError } from '../errors.ts';
import type { Query } from './query-string.ts';

export type ObjectSchema = v.ObjectSchema<
  v.ObjectEntries,
  undefined | v.ErrorMessage<v.ObjectIssue>
>;
type SentFields = Readonly<Record<string, unknown>>;
type FieldError = [name: string, sentence: string];

/** A field that the service assigns. A client may send back the value that it read: the value is ignored. */
export const ignored = v.exactOptional(v.pipe(v.unknown(), v.description('Ignored.')));

/** Fields that the service assigns in every record. */
export const ASSIGNED = { id: ignored, created_at: ignored, updated_at: ignored, etag: ignored };

const INVALID_FILTER = 'Filter validation failed';
const UNKNOWN_PARAMETER = 'Is not a known parameter.';

/** Limits keep error responses small, even if a body has many unknown fields: in an attack, outgoing data costs the most. */
const MAX_REPORTED_FIELDS = 100;
const MAX_REPORTED_LENGTH = 100;

/**
 * Parses the fields of a JSON body.
 * @param extraErrors errors that the schema does not find
 * @throws ValidationError "Input validation failed" with `details`, also for an unknown field
 */
export function parseBody<Schema extends ObjectSchema>(
  schema: Schema,
  body: SentFields,
  extraErrors: readonly FieldError[] = [],
): v.InferOutput<Schema> {
  const unknownNames = findUnknownNames(schema, body);
  return parse(schema, body, {
    message: 'Input validation failed',
    errors: [
      ...extraErrors,
      ...unknownNames.map((name): FieldError => [name, 'Is not a known field.']),
    ],
  });
}

/**
 * Parses the parameters of a query string.
 * @throws ValidationError "Filter validation failed" with `details`, also for a parameter that is unknown or sent more than
 * once
 */
export function parseFilter<Schema extends ObjectSchema>(
  schema: Schema,
  query: Query,
): v.InferOutput<Schema> {
  const singleValues = Object.entries(query).map(([name, value]) => [name, [value].flat()[0]]);
  const repeatedNames = Object.keys(query).filter((name) => Array.isArray(query[name]));
  return parse(schema, Object.fromEntries(singleValues), {
    message: INVALID_FILTER,
    errors: [
      ...findUnknownNames(schema, query).map((name): FieldError => [name, UNKNOWN_PARAMETER]),
      ...repeatedNames.map((name): FieldError => [name, 'Must be sent once.']),
    ],
  });
}

/** @throws ValidationError if any parameter was sent; it names all of them */
export function refuseParameters(query: Query): void {
  const errors = Object.keys(query).map((name): FieldError => [name, UNKNOWN_PARAMETER]);
  if (errors.length === 0) return;
  throw new ValidationError(INVALID_FILTER, { details: groupByField(errors) });
}

/** Omits the fields without a value, so that an absent field stays absent. */
export function omitUndefined<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as ReturnType<typeof omitUndefined<Fields>>;
}

function parse<Schema extends ObjectSchema>(
  schema: Schema,
  input: SentFields,
  failure: { message: string; errors: FieldError[] },
): v.InferOutput<Schema> {
  // Copies own properties only, so that a prototype's `constructor` or `__proto__` is not read as a field.
  const ownFields = Object.assign(Object.create(null), input);
  const result = v.safeParse(schema, ownFields);
  const errors = [...(result.issues ?? []).map(toFieldError), ...failure.errors];
  if (errors.length > 0 || !result.success) {
    throw new ValidationError(failure.message, { details: groupByField(errors) });
  }
  return result.output;
}

function findUnknownNames({ entries }: ObjectSchema, input: SentFields): string[] {
  return Object.keys(input).filter((name) => !Object.hasOwn(entries, name));
}

function toFieldError(issue: v.BaseIssue<unknown>): FieldError {
  return [v.getDotPath(issue) ?? '', issue.message];
}

function groupByField(errors: readonly FieldError[]): FieldErrors {
  const errorsByField = Map.groupBy(errors, ([name]) => name);
  return Object.fromEntries(
    [...errorsByField]
      .slice(0, MAX_REPORTED_FIELDS)
      .map(([name, pairs]) => [shorten(name), pairs.map(([, sentence]) => sentence)]),
  );
}

/** Shortens text from a client, for a response that quotes it. */
export function shorten(text: string): string {
  return text.length > MAX_REPORTED_LENGTH
    ? `${text.slice(0, MAX_REPORTED_LENGTH).toWellFormed()}…`
    : text;
}
