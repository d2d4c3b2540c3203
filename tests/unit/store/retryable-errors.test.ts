// Which failures of the store are worth another try.
import { describe, expect, test } from 'vitest';
import { isRetryable } from '../../../lib/store/retryable-errors.ts';

const named = (name: string, rest: object = {}) => Object.assign(new Error(), { name, ...rest });

const cancelled = (...codes: (string | undefined)[]) =>
  named('TransactionCanceledException', {
    $metadata: { httpStatusCode: 400 },
    CancellationReasons: codes.map((Code) => (Code === undefined ? {} : { Code })),
  });

describe('may pass by itself', () => {
  test.each([
    named('TransactionConflictException'),
    named('TransactionInProgressException'),
    named('ThrottlingException', { $metadata: { httpStatusCode: 400 } }),
    named('ProvisionedThroughputExceededException', { $metadata: { httpStatusCode: 400 } }),
    named('RequestLimitExceeded'),
    named('InternalServerError', { $metadata: { httpStatusCode: 500 } }),
    named('TimeoutError'),
    named('Unheard of', { $metadata: { httpStatusCode: 503 } }),
    named('Error', { code: 'ECONNREFUSED' }),
    named('Error', { code: 'ECONNRESET' }),
    named('Error', { code: 'EAI_AGAIN' }),
    cancelled('TransactionConflict'),
    cancelled('None', 'TransactionConflict', undefined, 'ThrottlingError'),
    cancelled('ProvisionedThroughputExceeded'),
  ])('%o', (error) => expect(isRetryable(error)).toBe(true));
});

describe('stands', () => {
  test.each([
    named('ValidationException', { $metadata: { httpStatusCode: 400 } }),
    named('AccessDeniedException', { $metadata: { httpStatusCode: 400 } }),
    named('ResourceNotFoundException', { $metadata: { httpStatusCode: 400 } }),
    named('IdempotentParameterMismatchException', { $metadata: { httpStatusCode: 400 } }),
    named('TypeError'),
    named('Error', { code: 'ERR_INVALID_ARG_TYPE' }),
    cancelled('ConditionalCheckFailed'),
    cancelled('TransactionConflict', 'ConditionalCheckFailed'),
    cancelled('None', 'ValidationError'),
    cancelled('None'),
    cancelled(),
    named('TransactionCanceledException'),
  ])('%o', (error) => expect(isRetryable(error)).toBe(false));
});
