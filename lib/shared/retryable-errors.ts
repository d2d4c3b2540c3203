// Classifies errors of DynamoDB calls: those that are retryable, and those after which the call may have been applied.
import { BusyError, DeadlineExceededError, StaleRecordError } from './errors.ts';

const CONTENTION_NAMES = new Set([
  'TransactionConflictException',
  'TransactionInProgressException',
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
]);

/** Errors of this project that mean contention. */
const CONTENTION_ERRORS = [BusyError, DeadlineExceededError, StaleRecordError];

const CONTENTION_REASONS = new Set([
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);

const LOST_RESPONSE_NAMES = new Set(['InternalServerError', 'TimeoutError', 'AbortError']);

/** Codes of socket errors that occur before anything is sent. */
const NOT_SENT_CODES = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

interface DatabaseError {
  readonly name?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly CancellationReasons?: readonly { readonly Code?: string }[];
}

export function isRetryable(error: unknown): boolean {
  const { name } = error as DatabaseError;
  if (name === 'TransactionCanceledException') return isRefused(error as DatabaseError);
  return isRefused(error as DatabaseError) || isResponseLost(error as DatabaseError);
}

/** True if a request failed because of concurrent requests, so that a retry may succeed. */
export function isContention(error: unknown): boolean {
  if (CONTENTION_ERRORS.some((type) => error instanceof type)) return true;
  return error instanceof Error && isRefused(error);
}

/** True if a call failed because of another writer. */
export function isWriteConflict(error: unknown): boolean {
  const { name = '', CancellationReasons = [] } = error as DatabaseError;
  if (name === 'TransactionConflictException' || error instanceof StaleRecordError) return true;
  return CancellationReasons.some(({ Code }) => Code === 'TransactionConflict');
}

/** True if the call may have been applied although it failed. */
export function isOutcomeUnknown(error: unknown): boolean {
  const { name = '', code = '' } = error as DatabaseError;
  if (name === 'TransactionInProgressException') return true;
  return isResponseLost(error as DatabaseError) && !NOT_SENT_CODES.has(code);
}

/** True if the database refused the call because of other requests. */
function isRefused({ name = '', CancellationReasons = [] }: DatabaseError): boolean {
  if (name === 'TransactionCanceledException') return isOnlyContention(CancellationReasons);
  return CONTENTION_NAMES.has(name);
}

// The network code decides before the status: a connection that is reset in the middle of a body has status 200.
function isResponseLost({ name = '', code = '', $metadata }: DatabaseError): boolean {
  if (LOST_RESPONSE_NAMES.has(name) || isNetworkCode(code)) return true;
  const status = $metadata?.httpStatusCode;
  return status !== undefined && (status >= 500 || isTruncated(name));
}

// The client fails to parse half a body as JSON.
function isTruncated(name: string): boolean {
  return name === 'SyntaxError';
}

// A cancelled transaction is retryable when contention is its only reason.
function isOnlyContention(reasons: readonly { readonly Code?: string }[]): boolean {
  const codes = reasons.map(({ Code = 'None' }) => Code).filter((code) => code !== 'None');
  return codes.length > 0 && codes.every((code) => CONTENTION_REASONS.has(code));
}

// Node's socket errors: ECONNREFUSED, ECONNRESET, EPIPE, ETIMEDOUT, EAI_AGAIN and others. ERR_INVALID_ARG_TYPE and the like are
// bugs, which a retry does not fix.
function isNetworkCode(code: string): boolean {
  return /^E(?!RR_)[A-Z_]+$/.test(code);
}
