// Sends one write as a single request, and returns the outcome of each of its changes. A write may be repeated after a lost
// response.
import type { TransactionsDeleted, TransactionsUpdated } from '../../lib/ledger/http/api-types.ts';
import { ApiError, type Call } from './api-error.ts';
import type { Change } from './figures.ts';
import { changedFields, type Row, readFields } from './rows.ts';

interface OutgoingWrite {
  /** The write's Idempotency-Key. */
  readonly key: string;
  readonly changes: readonly Change[];
}

type Send = <Body>(path: string, request?: Call) => Promise<Body>;

export interface Refusal {
  readonly change: Change;
  readonly error: ApiError;
}

export interface Outcome {
  readonly changes: readonly Change[];
  readonly refusals: readonly Refusal[];
}

export class ConflictError extends Error {
  override readonly name = 'ConflictError';
  /** Undefined if the row was deleted elsewhere. */
  readonly theirs: Row | undefined;
  constructor(theirs: Row | undefined) {
    super('The transaction was changed elsewhere.');
    this.theirs = theirs;
  }
}

/**
 * Sends the write with the request that fits it.
 * @throws ApiError if the service refuses the write or does not answer
 * @throws ConflictError if another client changed the row
 */
export async function sendWrite(write: OutgoingWrite, call: Send): Promise<Outcome> {
  const [change] = write.changes;
  if (write.changes.length !== 1 || !change) return await sendBulkWrite(write, call);
  const { before, after } = change;
  const toOutcome = (row?: Row): Outcome => ({ changes: [{ before, after: row }], refusals: [] });
  if (!before && after) {
    const request = {
      method: 'POST',
      body: readFields(after),
      headers: { 'idempotency-key': write.key },
    } as const;
    return toOutcome((await call<{ data: Row }>('/transactions', request)).data);
  }
  if (!before) return toOutcome();
  const path = `/transactions/${before.id}`;
  const headers = { 'if-match': before.etag };
  if (after) {
    const request = { method: 'PUT', body: changedFields(before, after), headers } as const;
    try {
      return toOutcome((await call<{ data: Row }>(path, request)).data);
    } catch (error) {
      return toOutcome(await readWrittenRow(error, after, path, call));
    }
  }
  try {
    await call(path, { method: 'DELETE', headers });
  } catch (error) {
    // The row was deleted elsewhere, or by an attempt whose response was lost.
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
  return toOutcome();
}

/**
 * Reads the row after a refusal, and returns it if an earlier attempt, whose response was lost, has already written it.
 * @throws ConflictError if the row was changed or deleted elsewhere
 */
async function readWrittenRow(error: unknown, mine: Row, path: string, call: Send): Promise<Row> {
  const status = error instanceof ApiError ? error.status : 0;
  if (status !== 412 && status !== 404) throw error;
  const { data: theirs } = await call<{ data: Row }>(path).catch((cause) => {
    throw cause instanceof ApiError && cause.status === 404 ? new ConflictError(undefined) : cause;
  });
  // The row exists, so the 404 means that its category does not.
  if (status === 404) throw error;
  if (Object.keys(changedFields(theirs, mine)).length === 0) return theirs;
  throw new ConflictError(theirs);
}

async function sendBulkWrite(write: OutgoingWrite, call: Send): Promise<Outcome> {
  const { changes, key } = write;
  const isRemoval = changes.every(({ after }) => !after);
  const transactions = changes.map(({ before, after }) => ({
    id: before?.id,
    if_match: before?.etag,
    ...(before && after && changedFields(before, after)),
  }));
  const { data } = await call<TransactionsUpdated | TransactionsDeleted>(
    isRemoval ? '/transactions/bulk/delete' : '/transactions/bulk',
    {
      method: isRemoval ? 'POST' : 'PUT',
      body: { transactions },
      headers: { 'idempotency-key': key },
    },
  );
  if (data.results.some(({ status }) => status >= 500))
    throw new ApiError('The service did not finish.');
  const appliedChanges: Change[] = [];
  const refusals: Refusal[] = [];
  for (const { index, status, etag, message = '', details = {} } of data.results) {
    const change = changes[index];
    if (!change) continue;
    const { before, after } = change;
    if (status < 300 || (isRemoval && status === 404))
      appliedChanges.push({ before, after: after && { ...after, etag: etag ?? after.etag } });
    else
      refusals.push({
        change,
        error: new ApiError(message, { status, details, isRetryable: false }),
      });
  }
  return { changes: appliedChanges, refusals };
}
