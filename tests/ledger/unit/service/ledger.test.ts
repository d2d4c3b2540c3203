// The day of a key's last use is only informative: no request fails or waits long because that day cannot be recorded.
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { createLedgerService, REQUEST_TIMEOUTS } from '../../../../lib/ledger/ledger.ts';
import { createSleeplessRetryPolicy } from '../../../shared/support/sleepless-retry-policy.ts';
import {
  type Client,
  denied,
  type Fault,
  refused,
  TEMPORARY_FAULTS,
} from '../../../shared/support/store-faults.ts';

const NEVER_RESPONDS: Fault = () => new Promise(() => {});

/** Creates a service on a table with one key, whose day of last use cannot be recorded. */
function setUp(fault: Fault) {
  const writes: unknown[] = [];
  const signals = new Map<number, AbortController>();
  let now = Date.parse('2026-03-01T12:00:00Z');
  const send = async (
    command: Parameters<Client['send']>[0],
    { abortSignal }: { abortSignal: AbortSignal },
  ) => {
    if (!(command instanceof TransactWriteCommand)) return { Item: { sk: 'f', ledger: 'alice' } };
    writes.push(command.input);
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    abortSignal.addEventListener('abort', () => reject(abortSignal.reason));
    // Lets the shortest time limit expire.
    if (fault === NEVER_RESPONDS) signals.get(Math.min(...signals.keys()))?.abort();
    return await Promise.race([fault(async () => ({}), command), aborted]);
  };
  const retryPolicy = createSleeplessRetryPolicy();
  const service = createLedgerService({
    client: { send: send as Client['send'] },
    tableName: 'table',
    ledgerId: undefined,
    timeZone: 'UTC',
    clock: () => new Date(now),
    retryPolicy,
    timeoutSignal(milliseconds) {
      const controller = new AbortController();
      signals.set(milliseconds, controller);
      return controller.signal;
    },
  });
  return {
    writes,
    signals,
    retryPolicy,
    request: () =>
      service.authenticate(`Bearer fl_${'p'.repeat(43)}`, service.startRequest('request')),
    advance(seconds: number) {
      now += seconds * 1_000;
    },
  };
}

test.each(Object.entries({ ...TEMPORARY_FAULTS, refused, denied, NEVER_RESPONDS }))(
  'a request succeeds even if the use of its key cannot be recorded, which the next read of the key tries again: %s',
  async (_, fault) => {
    const { request, writes, advance, retryPolicy } = setUp(fault);
    expect(await request()).toMatchObject({ ledger: 'alice' });
    advance(29);
    await request();
    expect([writes.length, retryPolicy.delays]).toEqual([1, []]);
    advance(1);
    await request();
    expect(writes).toHaveLength(2);
  },
);

test('a table that never responds delays a request by less than the time limit of one call', async () => {
  const { request, signals } = setUp(NEVER_RESPONDS);
  await request();
  expect(Math.min(...signals.keys())).toBeLessThan(REQUEST_TIMEOUTS.callMs);
});
