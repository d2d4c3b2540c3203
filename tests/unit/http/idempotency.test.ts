// Which error a request with an Idempotency-Key ends with when its marker cannot be read again.
import { expect, it } from 'vitest';
import {
  ConflictError,
  DuplicateError,
  OutcomeUnknownError,
  RequestRepeatedError,
  ValidationError,
} from '../../../lib/errors.ts';
import { idempotent } from '../../../lib/http/idempotency.ts';

/** The first read of the marker finds nothing, the second one fails. */
async function errorAfter(error: Error): Promise<unknown> {
  let reads = 0;
  const find = async () => {
    reads += 1;
    if (reads > 1) throw new Error('no response');
  };
  const event = {
    headers: { 'idempotency-key': 'k' },
    requestContext: { http: { method: 'POST', path: '/transactions' } },
    json: {},
    ledger: { idempotency: { find } },
  } as unknown as Parameters<ReturnType<typeof idempotent>>[0];
  return await idempotent(() => Promise.reject(error))(event).catch((thrown: unknown) => thrown);
}

it.each([new OutcomeUnknownError('lost'), new ValidationError('invalid'), new Error('other')])(
  'keeps $name',
  async (error) => {
    expect(await errorAfter(error)).toBe(error);
  },
);

it.each([
  new RequestRepeatedError('applied'),
  Object.assign(new Error(), { CancellationReasons: [{ Code: 'TransactionConflict' }] }),
])('reports that the same request is running: %o', async (error) => {
  expect(await errorAfter(error)).toMatchObject({ name: 'RequestInProgressError' });
});

it.each([new ConflictError('taken'), new DuplicateError('bank-1', 1)])(
  'reports no $name, which may be with the record of the same request',
  async (error) => {
    expect(await errorAfter(error)).toMatchObject({ message: 'no response' });
  },
);
