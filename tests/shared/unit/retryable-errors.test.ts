// Tells which errors of DynamoDB calls are retryable, and which leave open whether the call was applied.
import { describe, expect, test } from 'vitest';
import { isOutcomeUnknown, isRetryable } from '../../../lib/shared/retryable-errors.ts';

const named = (name: string, rest: object = {}) => Object.assign(new Error(), { name, ...rest });

const cancelled = (...codes: (string | undefined)[]) =>
  named('TransactionCanceledException', {
    $metadata: { httpStatusCode: 400 },
    CancellationReasons: codes.map((Code) => (Code === undefined ? {} : { Code })),
  });

describe('a retryable error:', () => {
  test.each([
    named('TransactionConflictException'),
    named('TransactionInProgressException'),
    named('ThrottlingException', { $metadata: { httpStatusCode: 400 } }),
    named('ProvisionedThroughputExceededException', { $metadata: { httpStatusCode: 400 } }),
    named('InternalServerError', { $metadata: { httpStatusCode: 500 } }),
    named('TimeoutError'),
    named('Unheard of', { $metadata: { httpStatusCode: 500 } }),
    named('Error', { code: 'ECONNREFUSED' }),
    named('Error', { code: 'ECONNRESET' }),
    named('Error', { code: 'EAI_AGAIN' }),
    named('Error', { code: 'ECONNRESET', $metadata: { httpStatusCode: 200 } }),
    named('SyntaxError', { $metadata: { httpStatusCode: 200 } }),
    named('AbortError'),
    cancelled('TransactionConflict'),
    cancelled('None', 'TransactionConflict', undefined, 'ThrottlingError'),
    cancelled('ProvisionedThroughputExceeded'),
  ])('%o', (error) => expect(isRetryable(error)).toBe(true));
});

describe('a permanent error:', () => {
  test.each([
    named('ValidationException', { $metadata: { httpStatusCode: 400 } }),
    named('IdempotentParameterMismatchException', { $metadata: { httpStatusCode: 400 } }),
    named('TypeError'),
    named('SyntaxError'),
    named('Error', { code: 'ERR_INVALID_ARG_TYPE' }),
    cancelled('ConditionalCheckFailed'),
    cancelled('TransactionConflict', 'ConditionalCheckFailed'),
    cancelled('None', 'ValidationError'),
    cancelled(),
    named('TransactionCanceledException'),
  ])('%o', (error) => expect(isRetryable(error)).toBe(false));
});

describe('an error after which the call may have been applied:', () => {
  test.each([
    named('InternalServerError', { $metadata: { httpStatusCode: 500 } }),
    named('TransactionInProgressException', { $metadata: { httpStatusCode: 400 } }),
    named('TimeoutError'),
    named('AbortError'),
    named('Error', { code: 'ECONNRESET' }),
    named('Error', { code: 'ECONNRESET', $metadata: { httpStatusCode: 200 } }),
    named('SyntaxError', { $metadata: { httpStatusCode: 200 } }),
  ])('%o', (error) => expect(isOutcomeUnknown(error)).toBe(true));
});

describe('an error that proves that the call was not applied:', () => {
  test.each([
    named('Error', { code: 'ECONNREFUSED' }),
    named('Error', { code: 'ENOTFOUND' }),
    named('ThrottlingException', { $metadata: { httpStatusCode: 400 } }),
    named('ValidationException', { $metadata: { httpStatusCode: 400 } }),
    cancelled('TransactionConflict'),
    cancelled('ConditionalCheckFailed'),
  ])('%o', (error) => expect(isOutcomeUnknown(error)).toBe(false));
});
