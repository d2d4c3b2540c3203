// Which DynamoDB errors are retryable: conflicts, throttling, server and network errors.

const RETRYABLE_NAMES = new Set([
  'TransactionConflictException',
  'TransactionInProgressException',
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'InternalServerError',
  'TimeoutError',
]);

const RETRYABLE_REASONS = new Set([
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);

interface DatabaseError {
  readonly name?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly CancellationReasons?: readonly { readonly Code?: string }[];
}

export function isRetryable(error: unknown): boolean {
  const { name = '', code = '', $metadata, CancellationReasons } = error as DatabaseError;
  if (name === 'TransactionCanceledException') return onlyRetryable(CancellationReasons ?? []);
  if (RETRYABLE_NAMES.has(name)) return true;
  const status = $metadata?.httpStatusCode;
  return status === undefined ? isNetworkCode(code) : status >= 500;
}

// A cancelled transaction is retryable when every reason for it is.
function onlyRetryable(reasons: readonly { readonly Code?: string }[]): boolean {
  const codes = reasons.map(({ Code = 'None' }) => Code).filter((code) => code !== 'None');
  return codes.length > 0 && codes.every((code) => RETRYABLE_REASONS.has(code));
}

// Node's socket errors: ECONNREFUSED, ECONNRESET, EPIPE, ETIMEDOUT, EAI_AGAIN ...
// ERR_INVALID_ARG_TYPE and the like are program errors, which a retry does not fix.
function isNetworkCode(code: string): boolean {
  return /^E(?!RR_)[A-Z_]+$/.test(code);
}
