// The one place where an error becomes a status and an error code.

import { logFailure } from '../../shared/log.ts';
import { isContention } from '../../shared/retryable-errors.ts';
import type { Category } from '../domain/category.ts';
import type { NamedTransaction } from '../domain/transaction.ts';
import {
  ConflictError,
  ForbiddenError,
  IdempotencyKeyReusedError,
  MethodNotAllowedError,
  NotFoundError,
  PayloadTooLargeError,
  RequestInProgressError,
  UnauthenticatedError,
  UnavailableError,
  UnsupportedMediaTypeError,
  ValidationError,
} from '../errors.ts';
import { PreconditionFailedError } from '../service/retry-on-conflict.ts';
import { toCategoryJson } from './category-json.ts';
import { type Failure, failed, type Reply } from './replies.ts';
import { toTransactionJson } from './transaction-json.ts';

/** Logs what the client does not see: the cause of a 500 or 503. */
export function replyToError(
  error: unknown,
  { requestId, failure }: { readonly requestId: string; readonly failure: string },
): Reply {
  const reply = toErrorReply(error, failure);
  if (reply.status >= 500) logFailure({ requestId, failure, cause: error });
  return reply;
}

function recordTag(record: NamedTransaction | Category): string {
  const shown = 'transactionCount' in record ? toCategoryJson(record) : toTransactionJson(record);
  return shown.etag;
}

/** Errors that show only their message. Some have a header that tells the client what to do next. */
const PLAIN_ERRORS: readonly (readonly [
  kind: new (...parameters: never[]) => Error,
  status: number,
  code: Failure['error'],
  headers?: Reply['headers'],
])[] = [
  [UnauthenticatedError, 401, 'unauthenticated', { 'www-authenticate': 'Bearer' }],
  [ForbiddenError, 403, 'forbidden'],
  [NotFoundError, 404, 'not_found'],
  [RequestInProgressError, 409, 'conflict', { 'retry-after': '1' }],
  [PayloadTooLargeError, 413, 'payload_too_large'],
  [UnsupportedMediaTypeError, 415, 'unsupported_media_type', { 'accept-encoding': 'identity' }],
  [IdempotencyKeyReusedError, 422, 'idempotency_key_reused'],
  [UnavailableError, 503, 'unavailable', { 'retry-after': '5' }],
];

/** @param failure the message of a 500, which does not show the cause to the client */
export function toErrorReply(error: unknown, failure: string): Reply {
  for (const [kind, status, code, headers] of PLAIN_ERRORS) {
    if (!(error instanceof kind)) continue;
    const reply = failed(status, { error: code, message: error.message });
    return headers ? { ...reply, headers } : reply;
  }
  if (error instanceof ValidationError) {
    const { message, details } = error;
    return failed(400, { error: 'validation_failed', message, details });
  }
  if (error instanceof MethodNotAllowedError) {
    const { message, allowed } = error;
    const headers = { allow: allowed.join(', ') };
    return { ...failed(405, { error: 'method_not_allowed', message }), headers };
  }
  if (error instanceof ConflictError) {
    const { message, existingId: existing_id } = error;
    return failed(409, { error: 'conflict', message, existing_id });
  }
  if (error instanceof PreconditionFailedError) {
    const reply = failed(412, { error: 'precondition_failed', message: error.message });
    return { ...reply, headers: { etag: recordTag(error.current) } };
  }
  const reply = failed(500, { error: 'internal_server_error', message: failure });
  return isContention(error) ? { ...reply, headers: { 'retry-after': '1' } } : reply;
}
