// The log line that a request writes on AWS, which is both an access log entry and CloudWatch metrics.
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest';
import { ConflictError } from '../../../../lib/ledger/errors.ts';
import { createEndpoint, createLedgerEndpoint } from '../../../../lib/ledger/http/endpoint.ts';
import { type Reply, replyDeleted, replyWithData } from '../../../../lib/ledger/http/replies.ts';
import type { LedgerService } from '../../../../lib/ledger/ledger.ts';
import { StaleRecordError } from '../../../../lib/shared/errors.ts';
import { invoke } from '../../support/api/invoke.ts';

const lines: string[] = [];
const SERVICE = 'finance-ledger';
let outputSpies: MockInstance<typeof process.stdout.write>[];

beforeEach(() => {
  lines.length = 0;
  vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', 'finance-ledger-test');
  outputSpies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation((line) => lines.push(String(line)) > 0),
  );
});

afterEach(() => {
  for (const spy of outputSpies) spy.mockRestore();
  vi.unstubAllEnvs();
});

async function serve(createReply: () => Promise<Reply>) {
  await invoke(createEndpoint('Failed').handler(createReply), {
    routeKey: 'GET /transactions/{id}',
  });
  return lines.map((line) => JSON.parse(line));
}

test('a log entry has the route, the status, the duration and the request id', async () => {
  const [line, ...others] = await serve(async () => replyWithData({ id: 1 }));
  expect(others).toEqual([]);
  const { _aws, timestamp, duration, coldStarts, ...entry } = line;
  expect(Date.parse(timestamp)).not.toBeNaN();
  expect(duration).toBeGreaterThanOrEqual(0);
  expect(coldStarts).toBeLessThanOrEqual(1);
  expect(entry).toEqual({
    level: 'INFO',
    message: 'request',
    service: SERVICE,
    requestId: 'lambda-1',
    route: 'GET /transactions/{id}',
    status: 200,
    retries: 0,
    conflicts: 0,
    replays: 0,
  });
});

test('a log entry contains CloudWatch metrics, with the service as the only dimension', async () => {
  const [{ _aws, ...values }] = await serve(async () => replyWithData({}));
  const [{ Namespace, Dimensions, Metrics }] = _aws.CloudWatchMetrics;
  expect([Namespace, Dimensions]).toEqual(['finance-ledger-test', [['service']]]);
  expect(values.service).toBe(SERVICE);
  const names = Metrics.map(({ Name }: { Name: string }) => Name);
  expect(names).toEqual(['duration', 'retries', 'conflicts', 'replays', 'coldStarts']);
  for (const name of names) expect(values[name]).toBeTypeOf('number');
  expect(Math.abs(_aws.Timestamp - Date.now())).toBeLessThan(60_000);
});

test.each([
  ['an expected error', new ConflictError('taken'), 409],
  ['an unexpected error', new TypeError('secret'), 500],
])('a log entry has the status of %s', async (_, error, status) => {
  const line = (await serve(() => Promise.reject(error))).at(-1);
  expect(line.status).toBe(status);
});

test('only the first log entry counts a cold start', async () => {
  await serve(async () => replyWithData({}));
  lines.length = 0;
  const [line] = await serve(async () => replyWithData({}));
  expect(line.coldStarts).toBe(0);
});

test('a log entry counts retries and conflicts, and names the ledger only by a hash', async () => {
  const service = {
    startRequest: (requestId: string, onRetry: (error: unknown) => void) => {
      onRetry(Object.assign(new Error(), { name: 'ThrottlingException' }));
      onRetry(new StaleRecordError('changed'));
      onRetry({
        name: 'TransactionCanceledException',
        CancellationReasons: [{ Code: 'TransactionConflict' }],
      });
      return { requestId, deadline: 0, signal: AbortSignal.abort() };
    },
    authenticate: async () => ({ ledger: 'smith-family', scope: 'write' }),
    openLedger: () => ({}),
  } as unknown as LedgerService;
  const handler = createLedgerEndpoint(service, 'deleteTransaction');
  await invoke(handler.handler(async () => replyDeleted('Deleted')));
  const [line] = lines.map((text) => JSON.parse(text));
  expect([line.retries, line.conflicts]).toEqual([3, 2]);
  expect(line.ledger).toMatch(/^[0-9a-f]{12}$/);
  expect(JSON.stringify(line)).not.toContain('smith');
});

test('metrics are omitted if no namespace is set', async () => {
  vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', '');
  expect(await serve(async () => replyWithData({}))).toEqual([]);
});
