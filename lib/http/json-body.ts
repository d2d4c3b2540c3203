// The body of a POST or PUT: present, JSON, an object. Its label (content type) is not enforced.
import type { MiddlewareObj } from '@middy/core';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import { ValidationError } from '../errors.ts';
import type { ApiEvent } from './api-event.ts';
import type { Reply } from './replies.ts';

/** A JSON object of unknown content. */
export type JsonObject = Readonly<Record<string, unknown>>;

type JsonRequest = Parameters<NonNullable<ReturnType<typeof httpJsonBodyParser>['before']>>[0];

const parser = httpJsonBodyParser({ disableContentTypeCheck: true });

/** @throws ValidationError "No JSON data provided", or another that says what the body is instead */
export function jsonBody(): MiddlewareObj<ApiEvent & { json: JsonObject }, Reply> {
  return {
    before: async (request) => {
      const text = textOf(request.event);
      if (text.trim() === '') throw noJsonData();
      request.event.json = presentObject(await parse(request as JsonRequest, text));
    },
  };
}

// The parser also refuses keys that reach into prototypes, and nesting deeper than its stack. Neither does harm
// as plain data: what is JSON all the same is judged by the schemas, which name every bad field at once.
async function parse(request: JsonRequest, text: string): Promise<unknown> {
  try {
    await parser.before?.(request);
    return request.event.body;
  } catch {
    return parseRefused(text);
  }
}

function parseRefused(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ValidationError('The request body is not valid JSON', { cause });
  }
}

// The gateway hands over in base64 what its label does not call text. The local one has parsed `0` and `false`.
function textOf({ body, isBase64Encoded }: ApiEvent): string {
  const text = String(body ?? '');
  return isBase64Encoded ? Buffer.from(text, 'base64').toString() : text;
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
