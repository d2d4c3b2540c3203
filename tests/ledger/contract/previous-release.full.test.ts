// During a deployment, and after a rollback, the functions of two releases work on the same rows. The bundles of the
// previous release and the current bundles read, change and delete each other's rows, and cause no drift.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { bundleFunctions, bundleFunctionsAt } from '../../../bench/ledger/bundles.ts';
import { findPreviousRelease } from '../../../bench/ledger/releases.ts';
import { toPartCursor } from '../../../lib/ledger/http/cursor.ts';
import { createVerification } from '../../../lib/ledger/store/verification/verification.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { invoke } from '../support/api/invoke.ts';

const { client, tableName, endpoint } = await createTestTable();
const RELEASES = ['previous', 'current'] as const;
type Release = (typeof RELEASES)[number];

const bundles = new Map<string, string>();
const folders: string[] = [];

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ledger-releases-'));
  folders.push(folder);
  const bundled = {
    previous: await bundleFunctionsAt(await findPreviousRelease(), join(folder, 'previous')),
    current: await bundleFunctions(join(folder, 'current')),
  };
  for (const release of RELEASES) {
    for (const { name, file } of bundled[release]) bundles.set(`${release} ${name}`, file);
  }
  vi.stubEnv('DYNAMODB_ENDPOINT', endpoint);
  vi.stubEnv('TABLE_NAME', tableName);
  vi.stubEnv('AUTH', 'open');
});

afterAll(async () => {
  vi.unstubAllEnvs();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

const METHODS: Readonly<Record<string, string>> = {
  create: 'POST',
  'bulk-create': 'POST',
  update: 'PUT',
  delete: 'DELETE',
};

interface WireMonth {
  readonly digest: string | null;
}

interface Request {
  readonly id?: number;
  readonly body?: object;
  readonly query?: Readonly<Record<string, string>>;
}

/** Opens the functions of one release on a ledger. Each function is loaded again, because it reads the ledger's id on load. */
function openRelease(release: Release, ledger: string) {
  return async (name: string, { id, body, query }: Request = {}) => {
    vi.stubEnv('LEDGER_ID', ledger);
    const { handler } = await import(`${bundles.get(`${release} ${name}`)}?${ledger}`);
    const [resource, verb = ''] = name.split('/');
    const path = `/${resource}${id === undefined ? '' : `/${id}`}`;
    const response = await invoke(handler, {
      pathParameters: id === undefined ? undefined : { id: String(id) },
      queryStringParameters: query,
      body: body && JSON.stringify(body),
      requestContext: { requestId: 'release', http: { method: METHODS[verb] ?? 'GET', path } },
    });
    return {
      status: response.statusCode ?? 0,
      text: response.body ?? '',
      data: () => response.json().data,
    };
  };
}

const BILL = { description: 'Bill', amount: 12.5, type: 'expense', transaction_date: '2026-03-05' };
const FIELDS = [
  'id',
  'description',
  'amount',
  'type',
  'category_id',
  'transaction_date',
  'notes',
  'external_id',
];
const pickFields = (record: Record<string, unknown>) => FIELDS.map((name) => record[name] ?? null);

describe.each(RELEASES)('data that the %s release wrote', (release) => {
  const ledger = `written-by-${release}`;
  const writer = openRelease(release, ledger);
  const otherRelease = openRelease(release === 'previous' ? 'current' : 'previous', ledger);
  const march = { query: { start_date: '2026-03-01', end_date: '2026-03-31' } };

  beforeAll(async () => {
    const results = [
      await writer('categories/create', { body: { name: 'Home' } }),
      await writer('categories/create', { body: { name: 'Spare' } }),
      await writer('transactions/create', { body: { ...BILL, category_id: 1 } }),
      await writer('transactions/create', { body: { ...BILL, external_id: 'bank-1' } }),
      await writer('transactions/bulk-create', {
        body: { transactions: [BILL, { ...BILL, category_id: 1, external_id: 'bank-2' }] },
      }),
    ];
    expect(results.map(({ status }) => status)).toEqual([201, 201, 201, 201, 207]);
  });

  it('is read by the other release', async () => {
    for (const id of [1, 2, 3, 4]) {
      const [mine, theirs] = [
        await writer('transactions/read', { id }),
        await otherRelease('transactions/read', { id }),
      ];
      expect([theirs.status, pickFields(theirs.data())]).toEqual([200, pickFields(mine.data())]);
    }
    const [mine, theirs] = [
      await writer('transactions/list', march),
      await otherRelease('transactions/list', march),
    ];
    expect(theirs.data()).toHaveLength(4);
    expect(theirs.data().map(pickFields)).toEqual(mine.data().map(pickFields));
    for (const name of ['transactions/export', 'categories/list', 'summary/read']) {
      const query = name === 'summary/read' ? { ...march.query, group_by: 'category' } : {};
      const [mine, theirs] = [await writer(name, { query }), await otherRelease(name, { query })];
      expect([theirs.status, theirs.text.length > 0]).toEqual([mine.status, true]);
    }
    expect(
      (await otherRelease('summary/read', { query: { ...march.query, group_by: 'type' } })).data(),
    ).toMatchObject({ expense: 50, count: 4 });
  });

  it('is exported in parts by both releases', async () => {
    const [, , third, fourth] = (await writer('transactions/list', march)).data().toReversed();
    const createdAt = Date.parse(third.created_at);
    const cursor = toPartCursor({ date: third.transaction_date, createdAt, id: third.id });
    for (const call of [writer, otherRelease]) {
      const { status, text } = await call('transactions/export', { query: { cursor } });
      expect([status, text.split('\r\n')]).toEqual([
        200,
        [expect.stringMatching(`^${fourth.id},`), ''],
      ]);
    }
  });

  it('can be changed and deleted by the other release, after which the writer continues', async () => {
    const steps = [
      await otherRelease('transactions/update', {
        id: 1,
        body: { notes: 'Split', category_id: 2 },
      }),
      await otherRelease('transactions/update', { id: 2, body: { external_id: 'bank-3' } }),
      await otherRelease('transactions/delete', { id: 3 }),
      await otherRelease('categories/update', { id: 1, body: { name: 'House' } }),
      await otherRelease('transactions/create', { body: { ...BILL, external_id: 'bank-1' } }),
      await writer('transactions/update', { id: 1, body: { amount: 20, category_id: null } }),
      await writer('transactions/update', { id: 5, body: { transaction_date: '2025-12-31' } }),
      await writer('transactions/delete', { id: 2 }),
      await writer('categories/delete', { id: 2 }),
      await otherRelease('transactions/create', { body: { ...BILL, external_id: 'bank-3' } }),
    ];
    expect(steps.map(({ status, text }) => [status, status < 300 ? '' : text])).toEqual(
      [200, 200, 200, 200, 201, 200, 200, 200, 200, 201].map((status) => [status, '']),
    );
    const taken = await otherRelease('transactions/create', {
      body: { ...BILL, external_id: 'bank-2' },
    });
    expect(taken.status).toBe(409);
  });

  it('has no drift afterwards, and a repair computes the digests of its months', async () => {
    const verification = createVerification({ client, tableName, ledgerId: ledger });
    const readDigests = async () =>
      (await openRelease('current', ledger)('summary/months'))
        .data()
        .map(({ digest }: WireMonth) => digest);
    // The previous release does not update digests: after its writes they cover too few rows of a month, or too many.
    expect(await readDigests()).toContain(null);
    const { repaired, verdict } = await verification.repair();
    expect(new Set(repaired.map(({ what }) => what))).toEqual(new Set(['month digests']));
    expect([verdict.drifts, verdict.rows]).toEqual([[], 4]);
    expect(await readDigests()).toEqual([expect.any(String), expect.any(String)]);
  });
});
