// The error of a request with an Idempotency-Key if the marker of that key cannot be read again.
import { expect, it } from 'vitest';
import { createExternalIdTakenError } from '../../../../lib/ledger/domain/transaction.ts';
import {
  ConflictError,
  RequestRepeatedError,
  ValidationError,
} from '../../../../lib/ledger/errors.ts';
import { createIdempotency } from '../../../../lib/ledger/service/idempotency.ts';
import type { IdempotencyStore } from '../../../../lib/ledger/store/idempotency.ts';
import { BusyError, OutcomeUnknownError } from '../../../../lib/shared/errors.ts';

const REQUEST = { operation: 'POST /transactions', key: 'k', body: {} };

/** Returns the error of a request that fails with `error`: the first read of the marker finds nothing, the second fails. */
async function catchErrorAfter(error: Error): Promise<unknown> {
  let reads = 0;
  const find = async () => {
    reads += 1;
    if (reads > 1) throw new Error('no response');
  };
  const store = { find } as unknown as IdempotencyStore;
  return await createIdempotency({ store })
    .applyOnce(REQUEST, () => Promise.reject(error))
    .catch((thrown: unknown) => thrown);
}

it.each([new OutcomeUnknownError('lost'), new ValidationError('invalid'), new Error('other')])(
  'a request that fails with $name reports that error',
  async (error) => {
    expect(await catchErrorAfter(error)).toBe(error);
  },
);

it.each([new RequestRepeatedError('applied'), new BusyError('being applied')])(
  'a request that fails with $name reports that the same request is running',
  async (error) => {
    expect(await catchErrorAfter(error)).toMatchObject({ name: 'RequestInProgressError' });
  },
);

it.each([new ConflictError('taken'), createExternalIdTakenError('bank-1', 1)])(
  'a request does not report $name, because the same request may have created the record',
  async (error) => {
    expect(await catchErrorAfter(error)).toMatchObject({ message: 'no response' });
  },
);
