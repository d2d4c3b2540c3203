// Creates an example of each failure with the code that responds to requests, so that the examples equal real responses.
import * as v from 'valibot';
import { createNameTakenError } from '../../lib/ledger/domain/category.ts';
import { createExternalIdTakenError } from '../../lib/ledger/domain/transaction.ts';
import {
  createNotFoundError,
  ForbiddenError,
  IdempotencyKeyReusedError,
  PayloadTooLargeError,
  RequestInProgressError,
  UnauthenticatedError,
  UnsupportedMediaTypeError,
} from '../../lib/ledger/errors.ts';
import { toErrorReply } from '../../lib/ledger/http/error-reply.ts';
import { parseBody, parseFilter } from '../../lib/ledger/http/fields.ts';
import { BODY_TOO_LARGE } from '../../lib/ledger/http/json-body.ts';
import { replyWithFailure } from '../../lib/ledger/http/replies.ts';

export interface FailingOperation {
  readonly method: string;
  readonly path: string;
  readonly hasBody: boolean;
}

/** Failures that no error class produces: the gateway's own responses, and a failed precondition, which needs a record. */
const FIXED_RESPONSES: Readonly<Record<string, object>> = {
  412: replyWithFailure(412, {
    error: 'precondition_failed',
    message: 'The record is at version 4, which was not expected: read it and send its ETag',
  }).body,
  429: { message: 'Too Many Requests' },
  503: { message: 'Service Unavailable' },
};

/** @param status such as `404` */
export function createFailureExample(status: string, operation: FailingOperation): object {
  return (
    FIXED_RESPONSES[status] ?? toErrorReply(createError(status, operation), 'Failed to answer').body
  );
}

function createError(status: string, { method, path, hasBody }: FailingOperation): unknown {
  const isCategory = path.startsWith('/categories');
  const errors: Readonly<Record<string, () => unknown>> = {
    400: () => catchError(() => (hasBody ? parseBody : parseFilter)(v.object({}), { colour: '1' })),
    401: () => new UnauthenticatedError('The API key is not known'),
    403: () => new ForbiddenError(`The key or token does not allow ${method}: its scope is read`),
    404: () => createNotFoundError(isCategory ? 'Category' : 'Transaction', 7),
    409: () => {
      if (path.includes('bulk'))
        return new RequestInProgressError('A request with this key is running');
      return isCategory
        ? createNameTakenError('Food', { id: 7, isActive: true })
        : createExternalIdTakenError('bank-1', 7);
    },
    413: () => new PayloadTooLargeError(BODY_TOO_LARGE),
    415: () => new UnsupportedMediaTypeError('The request body must not be encoded: gzip'),
    422: () => new IdempotencyKeyReusedError('This Idempotency-Key was used with another body'),
  };
  return errors[status]?.();
}

function catchError(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}
