// The upload of a statement's rows while the service fails.
import { expect, it } from 'vitest';
import { applyChanges, deleteRows, upload } from '../../../../../cli/ledger/import/upload.ts';
import { createServiceClient, PATIENT_POLICY } from '../../../../../cli/ledger/service-client.ts';
import { createRecorder, recordRow } from '../../../../../lib/ledger/import/recorded-rows.ts';
import { readCsv } from '../../../../../lib/ledger/import/statement.ts';
import type { LedgerRow, StatementRow } from '../../../../../lib/ledger/import/transaction-row.ts';
import { DEFAULT_RETRY_POLICY } from '../../../../../lib/shared/retry.ts';
import { readParameters } from '../../../../shared/support/deploy-guard.ts';

const recorder = createRecorder({ importId: 'x', total: 1 }, async () => undefined);
const STATEMENT = readCsv('date,name,amount\n2026-03-05,Tea,-3\n2026-03-06,Pay,2500');

function createService(respond: (path: string, attempt: number) => Response) {
  const steps: string[] = [];
  const idempotencyKeys: (string | null)[] = [];
  const service = createServiceClient({
    url: 'http://service.example',
    userAgent: 'test',
    retryPolicy: { ...DEFAULT_RETRY_POLICY, sleep: async () => void steps.push('pause') },
    fetch: async (address, { headers } = {}) => {
      const { pathname } = new URL(String(address));
      if (pathname === '/categories') return Response.json({ data: [] });
      steps.push(pathname);
      idempotencyKeys.push(new Headers(headers).get('idempotency-key'));
      return respond(pathname, steps.filter((step) => step === pathname).length);
    },
  });
  return { service, steps, idempotencyKeys };
}

const respondWithResults = (...statuses: number[]) =>
  Response.json({
    data: { results: statuses.map((status, index) => ({ index, status })) },
  });

it('the upload pauses before it retries rows that failed', async () => {
  const { service, steps } = createService((_, attempt) =>
    attempt < 3 ? respondWithResults(201, 500) : respondWithResults(201, 201),
  );
  const result = await upload(service, { ...STATEMENT, importId: 'x', recorder }, () => undefined);
  expect(result).toMatchObject({ created: 2, duplicates: 0, refused: [] });
  const bulk = '/transactions/bulk';
  expect(steps).toEqual([bulk, 'pause', bulk, 'pause', bulk]);
});

it('the upload waits while the service has no capacity', async () => {
  const { service, steps } = createService((_, attempt) =>
    attempt < 9
      ? new Response('', { status: attempt % 2 ? 429 : 503 })
      : respondWithResults(201, 201),
  );
  const result = await upload(service, { ...STATEMENT, importId: 'x', recorder }, () => undefined);
  expect(result).toMatchObject({ created: 2, duplicates: 0, refused: [] });
  expect(steps.filter((step) => step === 'pause')).toHaveLength(8);
});

it('the upload adds ten thousand rows in minutes at the rate of bulk requests in prod', async () => {
  const rate = Number(readParameters().prod?.bulkRate);
  const burst = 2 * rate;
  let milliseconds = 0;
  // A token bucket like API Gateway's limit of a route: the bucket starts full, and each second adds `rate` tokens.
  let tokens = burst;
  const advance = (elapsed: number) => {
    milliseconds += elapsed;
    tokens = Math.min(burst, tokens + (elapsed / 1000) * rate);
  };
  const service = createServiceClient({
    url: 'http://service.example',
    userAgent: 'test',
    retryPolicy: {
      ...PATIENT_POLICY,
      now: () => milliseconds,
      random: () => 0.5,
      sleep: async (pause) => advance(pause),
    },
    fetch: async (address) => {
      advance(50);
      if (String(address).includes('/categories')) return Response.json({ data: [] });
      if (tokens < 1) return new Response('', { status: 429 });
      tokens -= 1;
      return respondWithResults(...Array(100).fill(201));
    },
  });
  const rows = Array(10_000).fill(STATEMENT.rows[0]);
  const progress: number[] = [];
  const result = await upload(service, { rows, importId: 'x', recorder }, (n) => progress.push(n));
  expect([result.created, progress.length]).toEqual([10_000, 100]);
  expect(milliseconds / 60_000).toBeLessThan(3);
});

it.each([
  [
    'whose response was lost',
    () => new Response('', { status: 503 }),
    () => respondWithResults(409, 409),
  ],
  [
    'that failed after it was created',
    () => respondWithResults(500, 409),
    () => respondWithResults(409, 409),
  ],
])(
  'the upload records a row %s, but no row that another import created',
  async (_, firstResponse, laterResponse) => {
    const firstRow = STATEMENT.rows[0] as StatementRow;
    const { service } = createService((path, attempt) =>
      path === '/transactions/bulk'
        ? (attempt === 1 ? firstResponse : laterResponse)()
        : Response.json({ data: [{ import_id: attempt === 1 ? 'x' : 'other' }] }),
    );
    const written: (readonly string[])[] = [];
    const ownRecorder = createRecorder(
      { importId: 'x', total: 2 },
      async ({ rows }) => void written.push(rows),
    );
    const request = { ...STATEMENT, importId: 'x', recorder: ownRecorder };
    const result = await upload(service, request, () => undefined);
    expect(result).toEqual({ created: 1, duplicates: 1, refused: [] });
    expect(written.at(-1)).toEqual([recordRow(firstRow)]);
  },
);

it('the upload names the rows that still fail after all attempts', async () => {
  const { service, steps } = createService(() => respondWithResults(201, 500));
  const result = await upload(service, { ...STATEMENT, importId: 'x', recorder }, () => undefined);
  expect(result).toMatchObject({ created: 1, refused: [{ line: 3 }] });
  expect(steps.at(-1)).not.toBe('pause');
});

it('changes are retried with the Idempotency-Key of their first attempt, and other changes sent with another key', async () => {
  const row = { ...STATEMENT.rows[0], exported: null } as StatementRow;
  const change = { row, transaction: TEA, fields: ['amount'] } as const;
  const { service, idempotencyKeys } = createService((_, attempt) =>
    attempt === 1
      ? new Response('', { status: 503 })
      : respondWithResults(attempt === 2 ? 500 : 200),
  );
  const changes = [change, ...Array(100).fill(change)];
  expect(await applyChanges(service, changes, () => undefined)).toMatchObject({ refused: [] });
  const [firstKey, , , secondKey] = idempotencyKeys;
  expect(idempotencyKeys).toEqual([firstKey, firstKey, firstKey, secondKey]);
  expect(firstKey).toMatch(/./);
  expect(secondKey).toMatch(/./);
  expect(secondKey).not.toBe(firstKey);
});

it('the upload sends rows with an Idempotency-Key only if a row has no id', async () => {
  const { service, idempotencyKeys } = createService(() => respondWithResults(201, 201));
  await upload(service, { ...STATEMENT, importId: 'x', recorder }, () => undefined);
  const rows = STATEMENT.rows.map((row, n) => (n === 0 ? { ...row, externalId: null } : row));
  await upload(service, { rows, importId: 'x', recorder }, () => undefined);
  expect(idempotencyKeys).toEqual([null, expect.stringMatching(/./)]);
});

const TEA: LedgerRow = {
  id: '7',
  createdAt: '',
  updatedAt: '',
  etag: '"t7.1.0"',
  importId: 'x',
  category: null,
  description: 'Tea',
  amount: 3,
  type: 'expense',
  date: '2026-03-05',
  notes: null,
  externalId: null,
};

it('a deletion keeps rows that another client has changed since, and counts missing rows as deleted', async () => {
  const { service } = createService(() => respondWithResults(412, 404, 200));
  const rows = ['7', '8', '9'].map((id) => ({ ...TEA, id }));
  expect(await deleteRows(service, rows, () => undefined)).toEqual([rows[0]]);
});

it('a deletion ends with an error if rows could not be deleted', async () => {
  const { service } = createService(() => respondWithResults(500));
  await expect(deleteRows(service, [TEA], () => undefined)).rejects.toMatchObject({
    name: 'UserError',
  });
});
