// Reads the body of a POST or PUT. It must be a JSON object in UTF-8 that is neither empty nor encoded, with any content type.
import type { MiddlewareObj, Request } from '@middy/core';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import { PayloadTooLargeError, UnsupportedMediaTypeError, ValidationError } from '../errors.ts';
import type { ApiEvent } from './api-event.ts';
import { replaceLossyNumbers } from './json-text.ts';
import type { Reply } from './replies.ts';

/** A JSON object of unknown content. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** No record is as large as this. No response to such a body comes near Lambda's limit of 6 MB. */
const MAX_BODY_BYTES = 1_048_576;

export const BODY_TOO_LARGE = `The request body must not be larger than ${MAX_BODY_BYTES} bytes`;

const parser = httpJsonBodyParser<ApiEvent>({ disableContentTypeCheck: true });

/**
 * @throws ValidationError that says what is wrong with the body; UnsupportedMediaTypeError, PayloadTooLargeError
 */
export function parseJsonBody(): MiddlewareObj<ApiEvent & { json: JsonObject }, Reply> {
  return {
    before: async (request) => {
      const { event } = request;
      refuseEncodedBody(event);
      const text = decodeText(event);
      if (text.trim() === '') throw createNoDataError();
      event.body = replaceLossyNumbers(text);
      event.isBase64Encoded = false;
      await parse(request, text);
      event.json = requireNonEmptyObject(event.body);
    },
  };
}

/** @param text the body as the client sent it, so that errors name its lines and columns */
async function parse(request: Request<ApiEvent>, text: string): Promise<void> {
  try {
    await parser.before?.(request);
  } catch (cause) {
    const problem =
      describeForbiddenKey(cause as ParserError) ?? `is not valid JSON${locateError(text)}`;
    throw new ValidationError(`The request body ${problem}`, { cause });
  }
}

/**
 * Describes the place of the error, such as `: line 1, column 8`, if the parser names it. Does not return the parser's message,
 * because it may quote the body.
 */
function locateError(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec(String(error)) ?? [];
    return line === undefined ? '' : `: line ${line}, column ${column}`;
  }
}

type ParserError = Error & { readonly cause?: { readonly data?: unknown } };

/** Describes a key that the parser refused because it reaches into a prototype, such as `__proto__`. */
function describeForbiddenKey({ message, cause }: ParserError): string | undefined {
  return /^forbidden key/i.test(message) ? `must not have the key "${cause?.data}"` : undefined;
}

/** @throws UnsupportedMediaTypeError */
function refuseEncodedBody({ headers }: ApiEvent): void {
  const encoding = headers?.['content-encoding'] ?? '';
  if (/^(identity)?$/i.test(encoding.trim())) return;
  throw new UnsupportedMediaTypeError(`The request body must not be encoded: ${encoding}`);
}

/** @throws PayloadTooLargeError; ValidationError for bytes that are not UTF-8 */
function decodeText({ body = '', isBase64Encoded }: ApiEvent): string {
  // The gateway encodes a body whose content type is not text.
  const bytes = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
  if (bytes.length > MAX_BODY_BYTES) throw new PayloadTooLargeError(BODY_TOO_LARGE);
  try {
    // A byte order mark is skipped.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ValidationError('The request body is not valid UTF-8', { cause });
  }
}

function requireNonEmptyObject(value: unknown): JsonObject {
  if (value === null) throw createNoDataError();
  if (typeof value !== 'object') throw createNotObjectError();
  if (Object.keys(value).length === 0) throw createNoDataError();
  if (Array.isArray(value)) throw createNotObjectError();
  return value as JsonObject;
}

function createNoDataError() {
  return new ValidationError('No JSON data provided');
}

function createNotObjectError() {
  return new ValidationError('The request body must be a JSON object');
}
