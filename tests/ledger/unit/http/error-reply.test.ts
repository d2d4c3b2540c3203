// Every error gets the response that docs/ledger/api.md describes, or a 500 that reveals nothing.
import { expect, test } from 'vitest';
import {
  ConflictError,
  createNotFoundError,
  NotFoundError,
  PayloadTooLargeError,
  RequestInProgressError,
  UnavailableError,
  UnsupportedMediaTypeError,
  ValidationError,
} from '../../../../lib/ledger/errors.ts';
import { toErrorReply } from '../../../../lib/ledger/http/error-reply.ts';
import {
  BusyError,
  DeadlineExceededError,
  OutcomeUnknownError,
  StaleRecordError,
} from '../../../../lib/shared/errors.ts';

const FAILURE = 'Failed to respond';

const details = { amount: ['Must be a number.'] };

test.each<[Error, status: number, code: string, headers?: object]>([
  [new ValidationError('why'), 400, 'validation_failed'],
  [new NotFoundError('why'), 404, 'not_found'],
  [new ConflictError('why'), 409, 'conflict'],
  [new PayloadTooLargeError('why'), 413, 'payload_too_large'],
  [
    new UnsupportedMediaTypeError('why'),
    415,
    'unsupported_media_type',
    { 'accept-encoding': 'identity' },
  ],
  [new RequestInProgressError('why'), 409, 'conflict', { 'retry-after': '1' }],
  [new UnavailableError('why'), 503, 'unavailable', { 'retry-after': '5' }],
])('the response to %o has its message', (error, status, code, headers) => {
  const body = { success: false, error: code, message: 'why' };
  expect(toErrorReply(error, FAILURE)).toEqual({ status, body, ...(headers && { headers }) });
});

test.each([
  [createNotFoundError('Category', '007'), { message: 'Category with id 007 not found' }],
  [new ValidationError('bad', { details }), { message: 'bad', details }],
])('the response to %o has its message and details', (error, body) =>
  expect(toErrorReply(error, FAILURE).body).toMatchObject(body),
);

test.each([
  new BusyError('secret'),
  new StaleRecordError('secret'),
  new DeadlineExceededError('secret'),
  Object.assign(new Error('secret'), { name: 'ThrottlingException' }),
  Object.assign(new Error('secret'), {
    name: 'TransactionCanceledException',
    CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
  }),
])('contention until the deadline is a 500 that asks for a retry: %o', (error) => {
  expect(toErrorReply(error, FAILURE)).toEqual({
    status: 500,
    headers: { 'retry-after': '1' },
    body: { success: false, error: 'internal_server_error', message: FAILURE },
  });
});

test.each([
  new OutcomeUnknownError('secret'),
  Object.assign(new Error('secret'), { statusCode: 404, name: 'NotFoundError' }),
  { status: 400, message: 'secret' },
  undefined,
  null,
])('any other error is a 500 that does not reveal its cause: %o', (error) => {
  expect(toErrorReply(error, FAILURE)).toEqual({
    status: 500,
    body: { success: false, error: 'internal_server_error', message: FAILURE },
  });
});
