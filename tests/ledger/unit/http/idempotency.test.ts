// Which error a request with an Idempotency-Key ends with when its marker cannot be read again, and what a request of many
// records remembers.
import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { externalIdTaken } from '../../../../lib/ledger/domain/transaction.ts';
import {
  ConflictError,
  NotFoundError,
  RequestRepeatedError,
  ValidationError,
} from '../../../../lib/ledger/errors.ts';
import type { BulkOperation } from '../../../../lib/ledger/http/bulk-reply.ts';
import { idempotent, idempotentItems } from '../../../../lib/ledger/http/idempotency.ts';
import type { Outcome } from '../../../../lib/ledger/service/bulk.ts';
import { PreconditionFailedError } from '../../../../lib/ledger/service/retry-on-conflict.ts';
import { OutcomeUnknownError } from '../../../../lib/shared/errors.ts';
import { TEA } from '../../support/tea.ts';

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

it.each([new ConflictError('taken'), externalIdTaken('bank-1', 1)])(
  'reports no $name, which may be with the record of the same request',
  async (error) => {
    expect(await errorAfter(error)).toMatchObject({ message: 'no response' });
  },
);

describe('a request of many records', () => {
  // A 500 of one record has its log line, which is not for the test's own output.
  afterEach(() => void vi.restoreAllMocks());

  type Event = Parameters<ReturnType<typeof idempotent>>[0];
  const CREATED = { value: 7 };
  const EARLIER = { status: 201, body: { id: 9 } };
  const FINGERPRINT = createHash('sha256').update('{"transactions":[1,2]}').digest('hex');
  const ERRORS: Readonly<Record<number, Error>> = {
    400: new ValidationError('no'),
    404: new NotFoundError('no'),
    409: externalIdTaken('bank-1', 3),
    412: new PreconditionFailedError('no', TEA),
    500: new Error('no'),
  };
  const failed = (status: number) => ({ error: ERRORS[status] });

  /**
   * Two records. `markers` has what is found under the key of the request and then those of refused records; an error is
   * thrown when it is read.
   */
  function given(
    outcomes: readonly Outcome<number>[],
    markers: readonly (object | Error | undefined)[] = [],
  ) {
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const saved: unknown[] = [];
    const bound: string[] = [];
    const found = markers.values();
    const idempotency = {
      async find() {
        const marker = found.next().value;
        if (marker instanceof Error) throw marker;
        return marker && { fingerprint: FINGERPRINT, ...marker };
      },
      bind: async (_: string, fingerprint: string) => void bound.push(fingerprint),
      save: async (_: string, reply: unknown) => void saved.push(reply),
    };
    const event = {
      headers: { 'idempotency-key': 'k' },
      requestContext: { http: { method: 'POST', path: '/transactions/bulk' } },
      json: { transactions: [1, 2] },
      context: { requestId: 'r' },
      ledger: { idempotency },
    } as unknown as Event;
    const operation: BulkOperation<Event, object, number> = {
      items: ({ transactions }) => transactions as unknown[],
      parse: () => ({}),
      apply: async () => outcomes,
      toResult: (id) => ({ status: 201, id }),
      counted: { 201: 'created', 409: 'duplicates' },
      failure: 'Failed',
    };
    return { send: () => idempotentItems(operation)(event), saved, bound };
  }

  const statuses = (reply: { readonly body: Readonly<Record<string, unknown>> }) =>
    (reply.body.data as { results: { status: number }[] }).results.map(({ status }) => status);

  it('is remembered with its refused records', async () => {
    const { send, saved } = given([CREATED, failed(400)]);
    expect(statuses(await send())).toEqual([201, 400]);
    expect(saved).toHaveLength(1);
  });

  it('is not remembered where one failed unexpectedly', async () => {
    const { send, saved, bound } = given([CREATED, failed(500)]);
    expect(statuses(await send())).toEqual([201, 500]);
    expect([saved, bound]).toEqual([[], [FINGERPRINT]]);
  });

  it.each([400, 404, 409, 412, 500])(
    'answers a record that is refused with %i as an earlier attempt did',
    async (status) => {
      const { send } = given([CREATED, failed(status)], [undefined, EARLIER]);
      expect((await send()).body.data).toEqual({
        created: 2,
        duplicates: 0,
        failed: 0,
        results: [
          { index: 0, status: 201, id: 7 },
          { index: 1, status: 201, id: 9 },
        ],
      });
    },
  );

  it('answers a record that was refused when that was remembered, and applied by another attempt', async () => {
    const results = [
      { index: 0, status: 400 },
      { index: 1, status: 404 },
    ];
    const remembered = { status: 207, body: { success: true, data: { results } } };
    const { send } = given([], [remembered, EARLIER]);
    const reply = await send();
    expect([statuses(reply), reply.headers]).toEqual([
      [201, 404],
      { 'idempotent-replayed': 'true' },
    ]);
  });

  it('refuses no record where it cannot read whether it was applied', async () => {
    const { send, saved } = given([CREATED, failed(409)], [undefined, new Error('no response')]);
    expect(statuses(await send())).toEqual([201, 500]);
    expect(saved).toEqual([]);
  });

  it('fails with the cause of a record where none was applied, and is not remembered', async () => {
    const { send, saved } = given([failed(400), failed(500)]);
    await expect(send()).rejects.toThrow('no');
    expect(saved).toEqual([]);
  });

  it('is refused as a whole where all records are invalid', async () => {
    const { send } = given([failed(400), failed(404)]);
    expect(statuses(await send())).toEqual([400, 404]);
  });
});
