// The body of a POST or PUT: present, UTF-8, JSON, an object. The content type is not enforced.
import type { MiddlewareObj } from '@middy/core';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import { PayloadTooLargeError, ValidationError } from '../errors.ts';
import type { ApiEvent } from './api-event.ts';
import type { Reply } from './replies.ts';

/** A JSON object of unknown content. */
export type JsonObject = Readonly<Record<string, unknown>>;

type JsonRequest = Parameters<NonNullable<ReturnType<typeof httpJsonBodyParser>['before']>>[0];

/** Larger than any record, and small enough that no response comes near Lambda's limit of 6 MB. */
const MAX_BODY_BYTES = 1_048_576;

const parser = httpJsonBodyParser({ disableContentTypeCheck: true });

/** @throws ValidationError "No JSON data provided", or another that says what the body is instead */
export function jsonBody(): MiddlewareObj<ApiEvent & { json: JsonObject }, Reply> {
  return {
    before: async (request) => {
      const text = textOf(request.event);
      if (text.trim() === '') throw noJsonData();
      Object.assign(request.event, { body: text, isBase64Encoded: false });
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

/** @throws PayloadTooLargeError; ValidationError for bytes that are not UTF-8 */
function textOf({ body = '', isBase64Encoded }: ApiEvent): string {
  // The gateway encodes a body whose content type is not text.
  const bytes = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
  if (bytes.length > MAX_BODY_BYTES) throw tooLarge();
  try {
    // A byte order mark is skipped.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ValidationError('The request body is not valid UTF-8', { cause });
  }
}

function tooLarge() {
  return new PayloadTooLargeError(
    `The request body must not be larger than ${MAX_BODY_BYTES} bytes`,
  );
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
