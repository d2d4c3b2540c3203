// The errors that the service throws on purpose. Each has a literal name, which callers match and minification does not change.

/** Sentences that say what is wrong with each field, by its name. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** The request is invalid; `details` has the errors of each invalid field. */
export class ValidationError extends Error {
  override readonly name = 'ValidationError';
  readonly details: FieldErrors | undefined;

  constructor(message: string, options: ErrorOptions & { details?: FieldErrors } = {}) {
    super(message, options);
    this.details = options.details;
  }
}

/** There is no record with that id, or no route with that path. */
export class NotFoundError extends Error {
  override readonly name = 'NotFoundError';
}

/** The path exists, but serves other methods. */
export class MethodNotAllowedError extends Error {
  override readonly name = 'MethodNotAllowedError';
  readonly allowed: readonly string[];

  constructor(message: string, allowed: readonly string[]) {
    super(message);
    this.allowed = allowed;
  }
}

/** The request body is larger than the service accepts. */
export class PayloadTooLargeError extends Error {
  override readonly name = 'PayloadTooLargeError';
}

/** The request body is compressed or otherwise encoded. */
export class UnsupportedMediaTypeError extends Error {
  override readonly name = 'UnsupportedMediaTypeError';
}

/** The request is well-formed, but conflicts with existing records. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
  /** Id of the record that already has the unique value; undefined if that record was not stored. */
  readonly existingId: number | undefined;

  constructor(message: string, existingId?: number) {
    super(message);
    this.existingId = existingId;
  }
}

/** The request has no key or token, or one that is invalid, revoked or expired. */
export class UnauthenticatedError extends Error {
  override readonly name = 'UnauthenticatedError';
}

/** The key or token is valid, but does not allow the request. */
export class ForbiddenError extends Error {
  override readonly name = 'ForbiddenError';
}

/** An upstream dependency other than the database is unavailable: a later request may succeed. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}

/** The idempotency key belongs to a request with another body. */
export class IdempotencyKeyReusedError extends Error {
  override readonly name = 'IdempotencyKeyReusedError';
}

/** A request with the same idempotency key was applied first. */
export class RequestRepeatedError extends Error {
  override readonly name = 'RequestRepeatedError';
}

/** A request with the same idempotency key is being applied: its outcome will be known soon. */
export class RequestInProgressError extends Error {
  override readonly name = 'RequestInProgressError';
}

export type Resource = 'Transaction' | 'Category';

export function createNotFoundError(resource: Resource, id: number | string): NotFoundError {
  return new NotFoundError(`${resource} with id ${id} not found`);
}
