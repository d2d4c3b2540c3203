// The body of a POST or PUT: present, UTF-8, JSON, an object, not encoded. The content type is not enforced.
import type { MiddlewareObj } from '@middy/core';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import { PayloadTooLargeError, UnsupportedMediaTypeError, ValidationError } from '../errors.ts';
import type { ApiEvent } from './api-event.ts';
import type { Reply } from './replies.ts';

/** A JSON object of unknown content. */
export type JsonObject = Readonly<Record<string, unknown>>;

type JsonRequest = Parameters<NonNullable<ReturnType<typeof httpJsonBodyParser>['before']>>[0];

/** Larger than any record, and small enough that no response comes near Lambda's limit of 6 MB. */
const MAX_BODY_BYTES = 1_048_576;

/** No body of ours has more than four, and no function that follows a value down runs out of stack. */
const MAX_DEPTH = 512;

/** A string, a bracket or a number. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"?|[[\]{}]|[^\s,:"[\]{}]+/gs;
const NUMBER = /^(-?)((?:0|[1-9]\d*)(?:\.\d+)?)(?:e[+-]?\d+)?$/i;

const parser = httpJsonBodyParser({ disableContentTypeCheck: true });

/**
 * @throws ValidationError "No JSON data provided", or another that says what the body is instead;
 *   UnsupportedMediaTypeError, PayloadTooLargeError
 */
export function jsonBody(): MiddlewareObj<ApiEvent & { json: JsonObject }, Reply> {
  return {
    before: async (request) => {
      refuseEncoded(request.event);
      const text = textOf(request.event);
      if (text.trim() === '') throw noJsonData();
      Object.assign(request.event, { body: withoutUnderflow(text), isBase64Encoded: false });
      await parse(request as JsonRequest);
      request.event.json = presentObject(request.event.body);
    },
  };
}

async function parse(request: JsonRequest): Promise<void> {
  try {
    await parser.before?.(request);
  } catch (cause) {
    const problem = forbiddenKey(cause as ParserError) ?? 'is not valid JSON';
    throw new ValidationError(`The request body ${problem}`, { cause });
  }
}

type ParserError = Error & { readonly cause?: { readonly data?: unknown } };

/** One that reaches into a prototype: `__proto__`, or a `constructor` with a `prototype`. */
function forbiddenKey({ message, cause }: ParserError): string | undefined {
  return /^forbidden key/i.test(message) ? `must not have the key "${cause?.data}"` : undefined;
}

/**
 * The same JSON, except that a number too small for a double is the smallest one and not 0: then it has more decimals than
 * any amount may have.
 * @throws ValidationError for a value that is nested too deep
 */
function withoutUnderflow(json: string): string {
  let depth = 0;
  return json.replace(TOKENS, (token) => {
    const first = token[0] ?? '';
    if ('{['.includes(first)) depth += 1;
    else if ('}]'.includes(first)) depth -= 1;
    else if (first !== '"' && Number(token) === 0) return exceptUnderflow(token);
    if (depth > MAX_DEPTH) throw tooDeep();
    return token;
  });
}

function exceptUnderflow(zero: string): string {
  const [, sign, digits = ''] = NUMBER.exec(zero) ?? [];
  return /[1-9]/.test(digits) ? `${sign}${Number.MIN_VALUE}` : zero;
}

/** @throws UnsupportedMediaTypeError */
function refuseEncoded({ headers }: ApiEvent): void {
  const encoding = headers?.['content-encoding'] ?? '';
  if (/^(identity)?$/i.test(encoding.trim())) return;
  throw new UnsupportedMediaTypeError(`The request body must not be encoded: ${encoding}`);
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

function tooDeep() {
  return new ValidationError(`The request body is nested more than ${MAX_DEPTH} levels deep`);
}

function noJsonData() {
  return new ValidationError('No JSON data provided');
}

function notAnObject() {
  return new ValidationError('The request body must be a JSON object');
}
