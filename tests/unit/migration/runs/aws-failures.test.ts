// What AWS says when the environment is at fault has a name and a remedy; nothing else is taken for it.
import { describe, expect, it } from 'vitest';
import { translateFailure } from '../../../../lib/migration/runs/failures.ts';
import { named } from '../../../support/migration/refused.ts';

function failure(name: string, message = 'as AWS says'): Error {
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
    expect(translateFailure(failure(name))).toEqual(named(refusal));
  });

  it('without a message is named by its status, as an answer to HEAD is', () => {
    const forbidden = Object.assign(failure('403', ''), { $metadata: { httpStatusCode: 403 } });
    expect(translateFailure(forbidden)).toMatchObject({
      name: 'RefusedCredentials',
      message: expect.stringMatching(/^AWS does not know or allow the caller: 403\./),
    });
  });

  it('keeps the first line of what AWS says, which tells whom and what', () => {
    const denied = failure('AccessDeniedException', 'User: ada may not ssm:GetParameter\nat x');
    expect(translateFailure(denied)).toMatchObject({
      message: expect.stringMatching(
        /^AWS does not know or allow the caller: User: ada may not ssm:GetParameter\. /,
      ),
    });
  });

  it('by a client without a region names the variable', () => {
    expect(translateFailure(new Error('Region is missing'))).toMatchObject({
      name: 'RefusedSetting',
      message: expect.stringContaining('AWS_REGION'),
    });
  });

  it('of another name keeps it', () => {
    const other = failure('ValidationException');
    expect(translateFailure(other)).toBe(other);
  });
});

describe('a failure to connect', () => {
  it('that has a code and no message is named by its code', () => {
    const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    expect(translateFailure(refused)).toMatchObject({
      name: 'RetryableUnavailable',
      message: 'ECONNREFUSED.',
    });
  });
});
