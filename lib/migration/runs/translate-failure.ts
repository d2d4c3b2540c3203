// The failures of AWS as what the state machine and the operator know: refused, or worth another try. All other services
// fail in these words by themselves.
import { ConfigurationError } from '../../errors.ts';
import { isRetryable } from '../../store/retryable-errors.ts';
import { whoseFailure } from '../ports/whose-failure.ts';
import { Refusal, RetryableFailure } from '../refusals.ts';
import { refusalByAws } from './aws-failures.ts';

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
