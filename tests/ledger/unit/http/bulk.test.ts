// Responses to requests with many records, and the responses that are stored for an Idempotency-Key.
import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createExternalIdTakenError } from '../../../../lib/ledger/domain/transaction.ts';
import { NotFoundError, ValidationError } from '../../../../lib/ledger/errors.ts';
import { type BulkOperation, handleBulk } from '../../../../lib/ledger/http/bulk.ts';
import type { WriteEvent } from '../../../../lib/ledger/http/idempotency.ts';
import type { Outcome } from '../../../../lib/ledger/service/bulk.ts';
import { createIdempotency } from '../../../../lib/ledger/service/idempotency.ts';
import { PreconditionFailedError } from '../../../../lib/ledger/service/retry-on-conflict.ts';
import type { IdempotencyStore } from '../../../../lib/ledger/store/idempotency.ts';
import { TEA } from '../../support/tea.ts';

describe('a request with many records', () => {
  afterEach(() => void vi.restoreAllMocks());

  const CREATED_OUTCOME = { value: 7 };
  const EARLIER_REPLY = { status: 201, body: { id: 9 } };
  const FINGERPRINT = createHash('sha256').update('{"transactions":[1,2]}').digest('hex');
  const ERRORS: Readonly<Record<number, Error>> = {
    400: new ValidationError('no'),
    404: new NotFoundError('no'),
    409: createExternalIdTakenError('bank-1', 3),
    412: new PreconditionFailedError('no', TEA),
    500: new Error('no'),
  };
  const createFailure = (status: number) => ({ error: ERRORS[status] });

  /**
   * Prepares a request with two records.
   * @param markers stored for the request, then for its refused records; an Error is thrown when it is read
   */
  function prepareRequest(
    outcomes: readonly Outcome<number>[],
    markers: readonly (object | Error | undefined)[] = [],
  ) {
    // Keeps the log lines of a 500 out of the test's own output.
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const savedReplies: unknown[] = [];
    const boundFingerprints: string[] = [];
    const remainingMarkers = markers.values();
    const store = {
      async find() {
        const marker = remainingMarkers.next().value;
        if (marker instanceof Error) throw marker;
        return marker && { fingerprint: FINGERPRINT, ...marker };
      },
      bind: async (_: string, fingerprint: string) => void boundFingerprints.push(fingerprint),
      save: async (_: string, reply: unknown) => void savedReplies.push(reply),
    };
    const event = {
      headers: { 'idempotency-key': 'k' },
      requestContext: { http: { method: 'POST', path: '/transactions/bulk' } },
      json: { transactions: [1, 2] },
      context: { requestId: 'r' },
      ledger: { idempotency: createIdempotency({ store: store as unknown as IdempotencyStore }) },
    } as unknown as WriteEvent;
    const operation: BulkOperation<WriteEvent, object, number, string> = {
      parseItems: ({ transactions }) => transactions as unknown[],
      parseItem: () => ({}),
      apply: async () => outcomes,
      toReply: (id) => ({ status: 201, body: { id } }),
      countNames: { 201: 'created', 409: 'duplicates' },
      itemOperation: 'createTransaction',
    };
    return { send: () => handleBulk(operation)(event), savedReplies, boundFingerprints };
  }

  const readStatuses = (reply: { readonly body: Readonly<Record<string, unknown>> }) =>
    (reply.body.data as { results: { status: number }[] }).results.map(({ status }) => status);

  it('stores its response, including the refused records', async () => {
    const { send, savedReplies } = prepareRequest([CREATED_OUTCOME, createFailure(400)]);
    expect(readStatuses(await send())).toEqual([201, 400]);
    expect(savedReplies).toHaveLength(1);
  });

  it('stores no response if one record failed unexpectedly', async () => {
    const { send, savedReplies, boundFingerprints } = prepareRequest([
      CREATED_OUTCOME,
      createFailure(500),
    ]);
    expect(readStatuses(await send())).toEqual([201, 500]);
    expect([savedReplies, boundFingerprints]).toEqual([[], [FINGERPRINT]]);
  });

  it.each([400, 404, 409, 412, 500])(
    'returns the stored result of an earlier attempt for a record that is now refused with %i',
    async (status) => {
      const { send } = prepareRequest(
        [CREATED_OUTCOME, createFailure(status)],
        [undefined, EARLIER_REPLY],
      );
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

  it('replaces the stored refusal of a record that another attempt has applied', async () => {
    const results = [
      { index: 0, status: 400 },
      { index: 1, status: 404 },
    ];
    const storedReply = { status: 207, body: { success: true, data: { results } } };
    const { send } = prepareRequest([], [storedReply, EARLIER_REPLY]);
    const reply = await send();
    expect([readStatuses(reply), reply.headers]).toEqual([
      [201, 404],
      { 'idempotent-replayed': 'true' },
    ]);
  });

  it('reports a record as failed, not as refused, if it cannot read whether it was applied', async () => {
    const { send, savedReplies } = prepareRequest(
      [CREATED_OUTCOME, createFailure(409)],
      [undefined, new Error('no response')],
    );
    expect(readStatuses(await send())).toEqual([201, 500]);
    expect(savedReplies).toEqual([]);
  });

  it('fails as a whole if no record was applied, and stores no response', async () => {
    const { send, savedReplies } = prepareRequest([createFailure(400), createFailure(500)]);
    await expect(send()).rejects.toThrow('no');
    expect(savedReplies).toEqual([]);
  });

  it('lists every refusal if all records are invalid', async () => {
    const { send } = prepareRequest([createFailure(400), createFailure(404)]);
    expect(readStatuses(await send())).toEqual([400, 404]);
  });
});
