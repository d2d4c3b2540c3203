// Injects a fault at each database call of each operation: the response is correct or a 500, and the request is applied completely
// or not at all.
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSeededRandom } from '../../../../cli/seeded-random.ts';
import { REQUEST_TIMEOUTS } from '../../../../lib/ledger/ledger.ts';
import { DEFAULT_RETRY_POLICY } from '../../../../lib/shared/retry.ts';
import { scaleCases } from '../../../shared/support/seed.ts';
import {
  createFaultyClient,
  denied,
  type FaultyClient,
  refused,
  TEMPORARY_FAULTS,
} from '../../../shared/support/store-faults.ts';
import {
  expectFailure,
  expectSameResponse,
  hasFailed,
  type LedgerContents,
  OPERATIONS,
  type Operation,
  type Run,
  readContentsBefore,
  runOperation,
} from '../../support/operations.ts';

// Keeps the log lines of a 500 out of the test's own output.
const log = vi.fn<(line: unknown) => boolean>(() => true);
beforeEach(() => void vi.spyOn(process.stderr, 'write').mockImplementation(log.mockReset()));
afterEach(() => void vi.restoreAllMocks());

/** The timeout in serverless.yml, after which the gateway responds instead of the service. */
const FUNCTION_TIMEOUT_MS = 20_000;

type FaultAt = Parameters<typeof createFaultyClient>[1];

// tests/shared/unit/document-client.test.ts covers responses that break in the middle of their body.
const LOST_RESPONSE = TEMPORARY_FAULTS['reset after applying'];
const SEEDS = Array.from({ length: scaleCases(30) }, (_, seed) => seed + 1);
const isWrite = (command: string) => command === 'TransactWriteCommand';

const runFaulty = (operation: Operation, faultAt: FaultAt) =>
  runOperation(operation, (client) => createFaultyClient(client, faultAt));

describe.each(OPERATIONS)('$name', (operation) => {
  let faultless: Run;
  let callCount: number;
  let before: LedgerContents;

  const run = (faultAt: FaultAt) => runFaulty(operation, faultAt);

  beforeAll(async () => {
    const clients: FaultyClient[] = [];
    faultless = await runOperation(operation, (client) => {
      const faulty = createFaultyClient(client, () => undefined);
      clients.push(faulty);
      return faulty;
    });
    callCount = clients[0]?.calls() ?? 0;
    before = await readContentsBefore();
  });

  it('succeeds and is applied once without faults', () => {
    const { response, contents } = faultless;
    expect(response).toMatchObject({ status: operation.status, body: { success: true } });
    if (operation.isRead) expect(contents).toEqual(before);
    else expect(contents).not.toEqual(before);
  });

  it.each(Object.entries(TEMPORARY_FAULTS))(
    'gives the same response and is applied once if any call fails twice: %s',
    async (_, fault) => {
      for (let at = 0; at < callCount; at += 1) {
        const faulty = await run((call) => (call === at || call === at + 1 ? fault : undefined));
        expectSameResponse(faulty, faultless);
        expect(faulty.contents).toEqual(faultless.contents);
      }
    },
  );

  it('ends within the deadline with a 500, and is not applied, if a call and all later ones fail', async () => {
    for (let at = 0; at < callCount; at += 1) {
      const failed = await run((call) => (call >= at ? refused : undefined));
      expectFailure(failed, operation);
      expect(failed.contents).toEqual(before);
      expect(failed.elapsedMs).toBeLessThanOrEqual(DEFAULT_RETRY_POLICY.deadlineMs);
      expect(failed.delays.length).toBeGreaterThan(3);
    }
  });

  it.each([4, 16])(
    'ends within the deadline if each call is throttled about %i times',
    async (throttledAttempts) => {
      const isThrottled = (call: number) => call % (throttledAttempts + 1) < throttledAttempts;
      const throttled = await run((call) =>
        isThrottled(call) ? TEMPORARY_FAULTS.throttle : undefined,
      );
      expect(throttled.elapsedMs).toBeLessThanOrEqual(DEFAULT_RETRY_POLICY.deadlineMs);
      if (hasFailed(throttled)) expect(throttled.contents).toEqual(before);
      else expectSameResponse(throttled, faultless);
    },
  );

  it('ends with a 500 if the response to an applied call is lost, and all later calls fail', async () => {
    for (let at = 0; at < callCount; at += 1) {
      const failed = await run((call) =>
        call < at ? undefined : call === at ? LOST_RESPONSE : refused,
      );
      expectFailure(failed, operation);
      expect([before, faultless.contents]).toContainEqual(failed.contents);
    }
  });

  it('ends at once with a 500 if the database denies a call', async () => {
    for (let at = 0; at < callCount; at += 1) {
      const failed = await run((call) => (call === at ? denied : undefined));
      expectFailure(failed, operation);
      expect(failed.contents).toEqual(before);
      expect(failed.delays).toEqual([]);
    }
  });

  it('gives the same response, or a 500 without being applied, if half of all responses are lost', async () => {
    for (const seed of SEEDS) {
      const random = createSeededRandom(seed);
      const faulty = await run(() => (random.chance(0.5) ? LOST_RESPONSE : undefined));
      if (hasFailed(faulty)) expect(faulty.contents).toEqual(before);
      else expectSameResponse(faulty, faultless);
    }
  });
});

const WRITES = OPERATIONS.filter(({ isRead }) => !isRead);
const CREATIONS = WRITES.filter(({ status }) => status === 201);

describe.each(WRITES)('$name', (operation) => {
  it('gives the same response if all responses to its write are lost, because it reads the record again', async () => {
    const faultless = await runFaulty(operation, () => undefined);
    const faulty = await runFaulty(operation, (_, name) =>
      isWrite(name) ? LOST_RESPONSE : undefined,
    );
    expectSameResponse(faulty, faultless);
    expect(faulty.contents).toEqual(faultless.contents);
  });
});

describe.each([...WRITES, ...CREATIONS.map(withIdempotencyKey)])('$name', (operation) => {
  it('logs that its outcome is unknown if its write and all later calls lose their responses', async () => {
    let hasWritten = false;
    const faulty = await runFaulty(operation, (_, name) => {
      hasWritten ||= isWrite(name);
      return hasWritten ? LOST_RESPONSE : undefined;
    });
    expectFailure(faulty, operation);
    expect(log.mock.calls.map(([line]) => JSON.parse(String(line)).cause.name)).toEqual([
      'OutcomeUnknownError',
    ]);
  });
});

function withIdempotencyKey(operation: Operation): Operation {
  const headers = { 'idempotency-key': 'key-1' };
  return {
    ...operation,
    name: `${operation.name} with an Idempotency-Key`,
    send: (api) =>
      operation.send({
        ...api,
        post: (path, body) => api.request('POST', path, { body, headers }),
      }),
  };
}

it('a request ends within 10 s, and before the function times out', () => {
  const longest = DEFAULT_RETRY_POLICY.deadlineMs + REQUEST_TIMEOUTS.outcomeMs;
  expect(longest).toBeLessThan(Math.min(10_000, FUNCTION_TIMEOUT_MS));
});
