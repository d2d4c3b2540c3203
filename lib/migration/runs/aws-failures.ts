// What AWS and its client say when the environment is at fault, and not the step: no region, no credentials, no right.
import { Refusal } from '../refusals.ts';

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
export function refusalByAws(cause: Error): Refusal | undefined {
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
