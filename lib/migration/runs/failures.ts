// The failures of AWS as what the state machine and the operator know: refused, or worth another try. All other services
// fail in these words by themselves.
import { ConfigurationError } from '../../errors.ts';
import { isRetryable } from '../../store/retryable-errors.ts';
import { Refusal, RetryableFailure } from '../refusals.ts';

/** Anything else is a defect of this program, or unknown, and keeps its own name. */
export function translateFailure(cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  if (cause instanceof Refusal || cause instanceof RetryableFailure) return cause;
  // A failed connection has a code, and not always a message.
  const { code = cause.name } = cause as NodeJS.ErrnoException;
  const why = `${whoseFailure(cause)}${cause.message || code}.`;
  if (isRetryable(cause)) return new RetryableFailure('RetryableUnavailable', why, { cause });
  if (cause instanceof ConfigurationError) return new Refusal('RefusedSetting', why, { cause });
  return refusalByAws(cause) ?? cause;
}

const UNKNOWN_CALLER = new Set([
  'CredentialsProviderError',
  'TokenProviderError',
  'UnrecognizedClientException',
  'InvalidClientTokenId',
  'InvalidAccessKeyId',
  'InvalidSignatureException',
  'SignatureDoesNotMatch',
  'IncompleteSignature',
  'MissingAuthenticationToken',
  'MissingAuthenticationTokenException',
  'ExpiredToken',
  'ExpiredTokenException',
]);
const NO_RIGHT = new Set(['AccessDenied', 'AccessDeniedException', 'KMSAccessDeniedException']);

const BUCKET_FAULTS: Readonly<Record<string, string>> = {
  NoSuchBucket: 'that is not there',
  PermanentRedirect: 'of another region than AWS_REGION',
};

/** Undefined for everything else. */
function refusalByAws(cause: Error): Refusal | undefined {
  const why = (cause.message || cause.name).split('\n')[0];
  if (UNKNOWN_CALLER.has(cause.name)) {
    return new Refusal('RefusedCredentials', `AWS knows no such caller: ${why}.`, { cause });
  }
  if (NO_RIGHT.has(cause.name) || statusOf(cause) === 403) {
    return new Refusal('RefusedCredentials', `AWS does not allow it: ${why}.`, { cause });
  }
  if (cause.message === 'Region is missing') {
    const said = 'AWS_REGION is not set, nor does AWS_PROFILE name a region.';
    return new Refusal('RefusedSetting', said, { cause });
  }
  const fault = BUCKET_FAULTS[cause.name];
  if (fault === undefined) return undefined;
  return new Refusal('RefusedSetting', `ARTIFACTS_URL names a bucket ${fault}.`, { cause });
}

// An answer to HEAD has no body: of why it is refused there is only the status.
function statusOf(cause: Error): number | undefined {
  return (cause as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}

const owners = new WeakMap<Error, string>();

export function markFailure(error: unknown, service: string): void {
  if (error instanceof Error) owners.set(error, service);
}

/** Precedes the error's message; empty where unknown. */
function whoseFailure(error: Error): string {
  const service = owners.get(error);
  return service === undefined ? '' : `${service}: `;
}
