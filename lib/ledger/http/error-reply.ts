// The one place where an error becomes a status and an error code.

import { logFailure } from '../../shared/log.ts';
import { isContention } from '../../shared/retryable-errors.ts';
import type { Category } from '../domain/category.ts';
import type { TransactionWithCategoryName } from '../domain/transaction.ts';
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
import { type Failure, type Reply, replyWithFailure } from './replies.ts';
import { toTransactionJson } from './transaction-json.ts';

/** Replies to an error. The cause of a 500 or 503 is logged, but not shown to the client. */
export function replyToError(
  error: unknown,
  { requestId, failureMessage }: { readonly requestId: string; readonly failureMessage: string },
): Reply {
  const reply = toErrorReply(error, failureMessage);
  if (reply.status >= 500) logFailure({ requestId, failure: failureMessage, cause: error });
  return reply;
}

function computeEtag(record: TransactionWithCategoryName | Category): string {
  const json = 'transactionCount' in record ? toCategoryJson(record) : toTransactionJson(record);
  return json.etag;
}

interface PlainError {
  readonly errorClass: new (...parameters: never[]) => Error;
  readonly status: number;
  readonly code: Failure['error'];
  /** Headers that tell the client what to do next. */
  readonly headers?: NonNullable<Reply['headers']>;
}

/** Errors whose reply has no fields besides the code and the message. */
const PLAIN_ERRORS: readonly PlainError[] = [
  {
    errorClass: UnauthenticatedError,
    status: 401,
    code: 'unauthenticated',
    headers: { 'www-authenticate': 'Bearer' },
  },
  { errorClass: ForbiddenError, status: 403, code: 'forbidden' },
  { errorClass: NotFoundError, status: 404, code: 'not_found' },
  {
    errorClass: RequestInProgressError,
    status: 409,
    code: 'conflict',
    headers: { 'retry-after': '1' },
  },
  { errorClass: PayloadTooLargeError, status: 413, code: 'payload_too_large' },
  {
    errorClass: UnsupportedMediaTypeError,
    status: 415,
    code: 'unsupported_media_type',
    headers: { 'accept-encoding': 'identity' },
  },
  { errorClass: IdempotencyKeyReusedError, status: 422, code: 'idempotency_key_reused' },
  {
    errorClass: UnavailableError,
    status: 503,
    code: 'unavailable',
    headers: { 'retry-after': '5' },
  },
];

/** @param failureMessage the message of a 500: the client must not see the cause */
export function toErrorReply(error: unknown, failureMessage: string): Reply {
  for (const { errorClass, status, code, headers } of PLAIN_ERRORS) {
    if (!(error instanceof errorClass)) continue;
    const reply = replyWithFailure(status, { error: code, message: error.message });
    return headers ? { ...reply, headers } : reply;
  }
  if (error instanceof ValidationError) {
    const { message, details } = error;
    return replyWithFailure(400, { error: 'validation_failed', message, details });
  }
  if (error instanceof MethodNotAllowedError) {
    const { message, allowed } = error;
    const headers = { allow: allowed.join(', ') };
    return { ...replyWithFailure(405, { error: 'method_not_allowed', message }), headers };
  }
  if (error instanceof ConflictError) {
    const { message, existingId: existing_id } = error;
    return replyWithFailure(409, { error: 'conflict', message, existing_id });
  }
  if (error instanceof PreconditionFailedError) {
    const reply = replyWithFailure(412, { error: 'precondition_failed', message: error.message });
    return { ...reply, headers: { etag: computeEtag(error.current) } };
  }
  const reply = replyWithFailure(500, { error: 'internal_server_error', message: failureMessage });
  return isContention(error) ? { ...reply, headers: { 'retry-after': '1' } } : reply;
}
