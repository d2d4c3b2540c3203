// Every error is told as the service document says, or as a 500 that tells nothing.
import { describe, expect, test } from 'vitest';
import {
  ConfigurationError,
  ConflictError,
  DeadlineExceededError,
  MethodNotAllowedError,
  NotFoundError,
  OutcomeUnknownError,
  PayloadTooLargeError,
  StaleRecordError,
  UnavailableError,
  UnsupportedMediaTypeError,
  unknownRecord,
  ValidationError,
} from '../../../lib/errors.ts';
import { toErrorReply } from '../../../lib/http/error-reply.ts';

const FAILURE = 'Failed to do it';

test.each([
  [new ValidationError('bad'), 400, 'validation_failed', 'bad'],
  [new NotFoundError('none'), 404, 'not_found', 'none'],
  [unknownRecord('Category', '007'), 404, 'not_found', 'Category with id 007 not found'],
  [new ConflictError('taken'), 409, 'conflict', 'taken'],
  [new PayloadTooLargeError('large'), 413, 'payload_too_large', 'large'],
])('%o is told in its own words', (error, status, code, message) => {
  const { body, ...rest } = toErrorReply(error, FAILURE);
  expect(rest).toEqual({ status });
  expect(body).toEqual({ success: false, error: code, message });
});

test('a method that is not allowed comes with those that are', () => {
  expect(toErrorReply(new MethodNotAllowedError('no', ['GET', 'POST']), FAILURE)).toEqual({
    status: 405,
    headers: { allow: 'GET, POST' },
    body: { success: false, error: 'method_not_allowed', message: 'no' },
  });
});

test('an encoded body comes with what may be sent instead', () => {
  const error = new UnsupportedMediaTypeError('no');
  expect(toErrorReply(error, FAILURE)).toEqual({
    status: 415,
    headers: { 'accept-encoding': 'identity' },
    body: { success: false, error: 'unsupported_media_type', message: 'no' },
  });
});

test('what is unavailable comes with when to try again', () => {
  expect(toErrorReply(new UnavailableError('later'), FAILURE)).toEqual({
    status: 503,
    headers: { 'retry-after': '5' },
    body: { success: false, error: 'unavailable', message: 'later' },
  });
});

test('details stand beside the message where there are any', () => {
  const details = { amount: ['Must be a number.'] };
  const { body } = toErrorReply(new ValidationError('bad', { details }), FAILURE);
  expect(body).toEqual({ success: false, error: 'validation_failed', message: 'bad', details });
});

test.each([
  new StaleRecordError('secret'),
  new DeadlineExceededError('secret'),
  Object.assign(new Error('secret'), { name: 'ThrottlingException' }),
  Object.assign(new Error('secret'), {
    name: 'TransactionCanceledException',
    CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
  }),
])('contention until the deadline is a 500 that may be repeated: %o', (error) => {
  expect(toErrorReply(error, FAILURE)).toEqual({
    status: 500,
    headers: { 'retry-after': '1' },
    body: { success: false, error: 'internal_server_error', message: FAILURE },
  });
});

describe('anything else is a 500 that tells nothing of its cause', () => {
  test.each([
    new Error('secret'),
    new TypeError('secret'),
    new OutcomeUnknownError('secret'),
    Object.assign(new Error('secret'), { name: 'InternalServerError' }),
    new ConfigurationError('secret'),
    Object.assign(new Error('secret'), { statusCode: 404, name: 'NotFoundError' }),
    { status: 400, message: 'secret' },
    'secret',
    undefined,
    null,
  ])('%o', (error) => {
    expect(toErrorReply(error, FAILURE)).toEqual({
      status: 500,
      body: { success: false, error: 'internal_server_error', message: FAILURE },
    });
  });
});
