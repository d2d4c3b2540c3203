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
import { failed, type Reply } from './replies.ts';
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

/** @param failure the message of a 500, which does not show the cause to the client */
export function toErrorReply(error: unknown, failure: string): Reply {
  if (error instanceof ValidationError) {
    const { message, details } = error;
    return failed(400, { error: 'validation_failed', message, details });
  }
  if (error instanceof UnauthenticatedError) {
    const reply = failed(401, { error: 'unauthenticated', message: error.message });
    return { ...reply, headers: { 'www-authenticate': 'Bearer' } };
  }
  if (error instanceof ForbiddenError) {
    return failed(403, { error: 'forbidden', message: error.message });
  }
  if (error instanceof NotFoundError) {
    return failed(404, { error: 'not_found', message: error.message });
  }
  if (error instanceof MethodNotAllowedError) {
    const { message, allowed } = error;
    const headers = { allow: allowed.join(', ') };
    return { ...failed(405, { error: 'method_not_allowed', message }), headers };
  }
  if (error instanceof PayloadTooLargeError) {
    return failed(413, { error: 'payload_too_large', message: error.message });
  }
  if (error instanceof UnsupportedMediaTypeError) {
    const reply = failed(415, { error: 'unsupported_media_type', message: error.message });
    return { ...reply, headers: { 'accept-encoding': 'identity' } };
  }
  if (error instanceof PreconditionFailedError) {
    const reply = failed(412, { error: 'precondition_failed', message: error.message });
    return { ...reply, headers: { etag: recordTag(error.current) } };
  }
  if (error instanceof IdempotencyKeyReusedError) {
    return failed(422, { error: 'idempotency_key_reused', message: error.message });
  }
  if (error instanceof RequestInProgressError) {
    const reply = failed(409, { error: 'conflict', message: error.message });
    return { ...reply, headers: { 'retry-after': '1' } };
  }
  if (error instanceof ConflictError) {
    const { message, existingId: existing_id } = error;
    return failed(409, { error: 'conflict', message, existing_id });
  }
  if (error instanceof UnavailableError) {
    const reply = failed(503, { error: 'unavailable', message: error.message });
    return { ...reply, headers: { 'retry-after': '5' } };
  }
  const reply = failed(500, { error: 'internal_server_error', message: failure });
  return isContention(error) ? { ...reply, headers: { 'retry-after': '1' } } : reply;
}
