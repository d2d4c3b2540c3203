// The body of a POST or PUT: present, JSON, an object. Its label (content type) is not enforced.
import type { MiddlewareObj } from '@middy/core';
import { ValidationError } from '../errors.ts';
import type { ApiEvent } from './endpoint.ts';
import type { Reply } from './replies.ts';

/** A JSON object of unknown content. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** @throws ValidationError "No JSON data provided", or another that says what the body is instead */
export function jsonBody(): MiddlewareObj<ApiEvent & { json: JsonObject }, Reply> {
  return {
    before: ({ event }) => {
      event.json = presentObject(parse(textOf(event)));
    },
  };
}

// The gateway hands over in base64 what its label does not call text. The local one has parsed `0` and `false`.
function textOf({ body, isBase64Encoded }: ApiEvent): string {
  const text = String(body ?? '');
  return isBase64Encoded ? Buffer.from(text, 'base64').toString() : text;
}

// A key such as `__proto__` becomes a property like any other: the schemas name it as the unknown field it is.
function parse(text: string): unknown {
  if (text.trim() === '') throw noJsonData();
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ValidationError('The request body is not valid JSON', { cause });
  }
}

function presentObject(value: unknown): JsonObject {
  if (value === null) throw noJsonData();
  if (typeof value !== 'object') throw notAnObject();
  if (Object.keys(value).length === 0) throw noJsonData();
  if (Array.isArray(value)) throw notAnObject();
  return value as JsonObject;
}

function noJsonData() {
  return new ValidationError('No JSON data provided');
}

function notAnObject() {
  return new ValidationError('The request body must be a JSON object');
}
