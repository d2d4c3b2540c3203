// AWS errors that the environment causes get a name and a remedy; no other error is mistaken for one.
import { describe, expect, it } from 'vitest';
import { translateFailure } from '../../../../lib/migration/runs/failures.ts';
import { failureNamed } from '../../support/refused.ts';

function failure(name: string, message = 'message of AWS'): Error {
  return Object.assign(new Error(message), { name });
}

describe('a failure of AWS', () => {
  it.each([
    ['AccessDeniedException', 'RefusedCredentials'],
    ['AccessDenied', 'RefusedCredentials'],
    ['UnrecognizedClientException', 'RefusedCredentials'],
    ['ExpiredTokenException', 'RefusedCredentials'],
    ['CredentialsProviderError', 'RefusedCredentials'],
    ['NoSuchBucket', 'RefusedSetting'],
    ['PermanentRedirect', 'RefusedSetting'],
  ] as const)('%s is %s', (name, refusal) => {
    expect(translateFailure(failure(name))).toEqual(failureNamed(refusal));
  });

  it.each([
    [
      'without a message, such as a response to HEAD, is named by its status',
      Object.assign(failure('403', ''), { $metadata: { httpStatusCode: 403 } }),
      'RefusedCredentials',
      /^AWS does not know or allow the caller: 403\./,
    ],
    [
      'keeps the first line of the message, which names the caller and the action',
      failure('AccessDeniedException', 'User: ada may not ssm:GetParameter\nat x'),
      'RefusedCredentials',
      /^AWS does not know or allow the caller: User: ada may not ssm:GetParameter\. /,
    ],
    [
      'of a client without a region names the variable',
      new Error('Region is missing'),
      'RefusedSetting',
      /AWS_REGION/,
    ],
    [
      'to connect, without a message, is named by its code',
      Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }),
      'RetryableUnavailable',
      /^ECONNREFUSED\.$/,
    ],
  ] as const)('%s', (_, cause, name, message) => {
    expect(translateFailure(cause)).toEqual(failureNamed(name, message));
  });

  it('with any other name is unchanged', () => {
    const error = failure('ValidationException');
    expect(translateFailure(error)).toBe(error);
  });
});
