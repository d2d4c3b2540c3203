// Tells which errors of DynamoDB calls are retryable, and which leave open whether the call was applied.
import { describe, expect, test } from 'vitest';
import { isOutcomeUnknown, isRetryable } from '../../../lib/shared/retryable-errors.ts';

const createError = (name: string, rest: object = {}) =>
  Object.assign(new Error(), { name, ...rest });

const cancelled = (...codes: (string | undefined)[]) =>
  createError('TransactionCanceledException', {
    $metadata: { httpStatusCode: 400 },
    CancellationReasons: codes.map((Code) => (Code === undefined ? {} : { Code })),
  });

describe('a retryable error:', () => {
  test.each([
    createError('TransactionConflictException'),
    createError('TransactionInProgressException'),
    createError('ThrottlingException', { $metadata: { httpStatusCode: 400 } }),
    createError('ProvisionedThroughputExceededException', { $metadata: { httpStatusCode: 400 } }),
    createError('InternalServerError', { $metadata: { httpStatusCode: 500 } }),
    createError('TimeoutError'),
    createError('Unheard of', { $metadata: { httpStatusCode: 500 } }),
    createError('Error', { code: 'ECONNREFUSED' }),
    createError('Error', { code: 'ECONNRESET' }),
    createError('Error', { code: 'EAI_AGAIN' }),
    createError('Error', { code: 'ECONNRESET', $metadata: { httpStatusCode: 200 } }),
    createError('SyntaxError', { $metadata: { httpStatusCode: 200 } }),
    createError('AbortError'),
    cancelled('TransactionConflict'),
    cancelled('None', 'TransactionConflict', undefined, 'ThrottlingError'),
    cancelled('ProvisionedThroughputExceeded'),
  ])('%o', (error) => expect(isRetryable(error)).toBe(true));
});

describe('a permanent error:', () => {
  test.each([
    createError('ValidationException', { $metadata: { httpStatusCode: 400 } }),
    createError('IdempotentParameterMismatchException', { $metadata: { httpStatusCode: 400 } }),
    createError('TypeError'),
    createError('SyntaxError'),
    createError('Error', { code: 'ERR_INVALID_ARG_TYPE' }),
    cancelled('ConditionalCheckFailed'),
    cancelled('TransactionConflict', 'ConditionalCheckFailed'),
    cancelled('None', 'ValidationError'),
    cancelled(),
    createError('TransactionCanceledException'),
  ])('%o', (error) => expect(isRetryable(error)).toBe(false));
});

describe('an error after which the call may have been applied:', () => {
  test.each([
    createError('InternalServerError', { $metadata: { httpStatusCode: 500 } }),
    createError('TransactionInProgressException', { $metadata: { httpStatusCode: 400 } }),
    createError('TimeoutError'),
    createError('AbortError'),
    createError('Error', { code: 'ECONNRESET' }),
    createError('Error', { code: 'ECONNRESET', $metadata: { httpStatusCode: 200 } }),
    createError('SyntaxError', { $metadata: { httpStatusCode: 200 } }),
  ])('%o', (error) => expect(isOutcomeUnknown(error)).toBe(true));
});

describe('an error that proves that the call was not applied:', () => {
  test.each([
    createError('Error', { code: 'ECONNREFUSED' }),
    createError('Error', { code: 'ENOTFOUND' }),
    createError('ThrottlingException', { $metadata: { httpStatusCode: 400 } }),
    createError('ValidationException', { $metadata: { httpStatusCode: 400 } }),
    cancelled('TransactionConflict'),
    cancelled('ConditionalCheckFailed'),
  ])('%o', (error) => expect(isOutcomeUnknown(error)).toBe(false));
});
