// Translates AWS failures into refusals and retryable failures, and names the called service or table, which AWS errors do not.
// The adapters of all other services throw refusals and retryable failures themselves.
import { ConfigurationError } from '../../shared/errors.ts';
import { isRetryable } from '../../shared/retryable-errors.ts';
import { Refusal, RetryableFailure } from '../refusals.ts';

type Handler = (call: never) => Promise<unknown>;

interface Client {
  readonly middlewareStack: {
    add(
      middleware: (next: Handler) => Handler,
      options: { readonly step: 'initialize'; readonly name: string },
    ): void;
  };
}

const serviceNames = new WeakMap<Error, string>();

/** @param service precedes the message of every translated failure of the client */
export function namedClient<Named extends Client>(client: Named, service: string): Named {
  const markFailures = (next: Handler) => async (call: never) => {
    try {
      return await next(call);
    } catch (error) {
      if (error instanceof Error) serviceNames.set(error, service);
      throw error;
    }
  };
  client.middlewareStack.add(markFailures, { step: 'initialize', name: 'namedClient' });
  return client;
}

/** Translates AWS failures. Any other error is unknown, or a defect of this program, and is returned unchanged. */
export function translateFailure(cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  if (cause instanceof Refusal || cause instanceof RetryableFailure) return cause;
  // The error of a failed connection has a code, but not always a message.
  const { code = cause.name } = cause as NodeJS.ErrnoException;
  const why = prefixService(cause, cause.message || code);
  if (isRetryable(cause)) return new RetryableFailure('RetryableUnavailable', why, { cause });
  if (cause instanceof ConfigurationError) return new Refusal('RefusedSetting', why, { cause });
  return toAwsRefusal(cause) ?? cause;
}

function prefixService(cause: Error, text: string): string {
  const service = serviceNames.get(cause);
  return `${service === undefined ? '' : `${service}: `}${text}.`;
}

const CREDENTIAL_ERRORS =
  /AccessDenied|Signature|UnrecognizedClient|InvalidClientTokenId|InvalidAccessKeyId|MissingAuthenticationToken|ExpiredToken|(Credentials|Token)ProviderError/;

const WRONG_KEYS = /key element|schema/i;

/** @returns undefined for an error that is not a refusal by AWS */
function toAwsRefusal(cause: Error): Refusal | undefined {
  const { name, message } = cause;
  if (CREDENTIAL_ERRORS.test(name) || readStatus(cause) === 403) {
    const why = (message || name).split('\n')[0];
    return new Refusal('RefusedCredentials', `AWS does not know or allow the caller: ${why}.`, {
      cause,
    });
  }
  if (message === 'Region is missing') {
    const why = 'AWS_REGION is not set, nor does AWS_PROFILE name a region.';
    return new Refusal('RefusedSetting', why, { cause });
  }
  const fault = describeFault(cause);
  if (fault === undefined) return undefined;
  return new Refusal('RefusedSetting', prefixService(cause, fault), { cause });
}

/** Names the problem with the bucket or table that a variable refers to. */
function describeFault({ name, message }: Error): string | undefined {
  if (name === 'NoSuchBucket') return 'there is no such bucket';
  if (name === 'PermanentRedirect') return 'the bucket is in another region than AWS_REGION';
  if (name === 'ResourceNotFoundException') {
    return 'there is no such table. "npx serverless deploy" creates it; or DATA_DIR=FOLDER keeps the runs on this machine';
  }
  const hasOtherKeys = name === 'ValidationException' && WRONG_KEYS.test(message);
  return hasOtherKeys ? 'its keys are not those of a table of this service' : undefined;
}

// A response to HEAD has no body: only its status tells why it was refused.
function readStatus(cause: Error): number | undefined {
  return (cause as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
