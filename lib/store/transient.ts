// Which failures of the store may pass by themselves: conflicts, throttling, and a store that cannot be reached.

const TRANSIENT_NAMES = new Set([
  'TransactionConflictException',
  'TransactionInProgressException',
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'InternalServerError',
  'TimeoutError',
]);

const TRANSIENT_REASONS = new Set([
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]);

interface StoreFailure {
  readonly name?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly CancellationReasons?: readonly { readonly Code?: string }[];
}

export function isTransient(error: unknown): boolean {
  const { name = '', code = '', $metadata, CancellationReasons } = error as StoreFailure;
  if (name === 'TransactionCanceledException') return onlyTransient(CancellationReasons ?? []);
  if (TRANSIENT_NAMES.has(name)) return true;
  const status = $metadata?.httpStatusCode;
  return status === undefined ? isNetworkCode(code) : status >= 500;
}

// A cancelled transaction is worth another try when nothing but bad luck stood against it.
function onlyTransient(reasons: readonly { readonly Code?: string }[]): boolean {
  const against = reasons.map(({ Code = 'None' }) => Code).filter((code) => code !== 'None');
  return against.length > 0 && against.every((code) => TRANSIENT_REASONS.has(code));
}

// Node names what happened to a socket: ECONNREFUSED, ECONNRESET, EPIPE, ETIMEDOUT, EAI_AGAIN ...
// ERR_INVALID_ARG_TYPE and its like are mistakes of the program, which no other try mends.
function isNetworkCode(code: string): boolean {
  return /^E(?!RR_)[A-Z_]+$/.test(code);
}
