// What went wrong on a stage, by the names that the functions and this command line share.
import * as v from 'valibot';
import {
  isRefusalName,
  isRetryableName,
  REMEDIES,
  Refusal,
  RetryableFailure,
} from '../../lib/migration/refusals.ts';
import { translateFailure } from '../../lib/migration/runs/translate-failure.ts';
import { FunctionFailedError } from './place.ts';

const failureSchema = v.object({
  // A function that ran out of time has said so without one.
  errorType: v.optional(v.string(), ''),
  errorMessage: v.optional(v.string(), ''),
});

/** What the function threw, or what became of it. */
export function failureOfFunction(functionName: string, answer: unknown): Error {
  const { errorType, errorMessage } = v.is(failureSchema, answer)
    ? v.parse(failureSchema, answer)
    : { errorType: '', errorMessage: '' };
  if (isRefusalName(errorType)) return told(errorType, errorMessage);
  if (isRetryableName(errorType)) return new RetryableFailure(errorType, errorMessage);
  if (errorType === 'Sandbox.Timedout' || /Task timed out/.test(errorMessage)) {
    return new RetryableFailure(
      'RetryableUnavailable',
      `${functionName} ran into its time limit. What it had done is kept, and its turn ends within two minutes: then give the same command again.`,
    );
  }
  const what = [errorType, errorMessage].filter((text) => text !== '').join(': ');
  return new FunctionFailedError(
    `${functionName} failed by itself (${what || 'without a word'}): see its log, /aws/lambda/${functionName}.`,
  );
}

// Lambda's own names, and what the client says when nobody answers.
const PASSING =
  /^(TooManyRequests|Service|ResourceConflict|EC2Throttled|ENILimitReached)Exception$/;

/** Why there was no invocation, or no answer to it. */
export function failureOfInvocation(functionName: string, cause: unknown): unknown {
  const { name = '', message = '' } = cause as { name?: string; message?: string };
  if (name === 'ResourceNotFoundException') {
    return new Refusal('RefusedNoFunction', `There is no function ${functionName}.`, { cause });
  }
  if (PASSING.test(name)) {
    const why = `${functionName} could not be invoked: ${name}: ${message}.`;
    return new RetryableFailure('RetryableUnavailable', why, { cause });
  }
  const translated = translateFailure(cause);
  if (!(translated instanceof RetryableFailure)) return translated;
  const why = `No answer from ${functionName}, which may be at work all the same; "status" tells.`;
  return new RetryableFailure('RetryableUnavailable', why, { cause });
}

/** The stage's refusal: its message ends with the remedy already. */
function told(name: keyof typeof REMEDIES, message: string): Refusal {
  const remedy = ` ${REMEDIES[name]}`;
  return new Refusal(name, message.endsWith(remedy) ? message.slice(0, -remedy.length) : message);
}
