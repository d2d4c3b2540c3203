// The body of a POST or PUT: present, JSON, an object. Its label (content type) is not enforced.
import type { MiddlewareObj } from '@middy/core';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import { unknownField } from '../domain/fields.ts';
import { ValidationError } from '../errors.ts';
import type { ApiEvent } from './endpoint.ts';
import type { Reply } from './replies.ts';

/** A JSON object of unknown content. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** @throws ValidationError "No JSON data provided", or another that says what the body is instead */
export function jsonBody(): MiddlewareObj<ApiEvent & { json: JsonObject }, Reply> {
  const parser = httpJsonBodyParser({ disableContentTypeCheck: true });
  return {
    before: async (request) => {
      const { event } = request;
      if (isBlank(event)) throw noJsonData();
      try {
        await parser.before?.(request as never);
      } catch (error) {
        throw refusal(error);
      }
      event.json = presentObject(event.body);
    },
  };
}

// The parser refuses keys that would reach into prototypes and tells which: to a client they are unknown fields.
function refusal(error: unknown): ValidationError {
  const { statusCode, cause } = error as { statusCode?: number; cause?: { data?: unknown } };
  const key = cause?.data;
  if (statusCode === 422 && (key === '__proto__' || key === 'constructor')) {
    return unknownField(key);
  }
  return new ValidationError('The request body is not valid JSON', { cause: error });
}

function isBlank({ body, isBase64Encoded }: ApiEvent): boolean {
  if (body === undefined || body === null) return true;
  const text = isBase64Encoded ? Buffer.from(body, 'base64').toString() : body;
  return text.trim() === '';
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
