// A fault at any database call of any operation: the reply is right or a 500, and a request is applied whole or not at all.
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DEFAULT_RETRY_POLICY } from '../../../lib/retry.ts';
import {
  contentsBefore,
  expectFailure,
  expectSameReply,
  type LedgerContents,
  OPERATIONS,
  type Run,
  runOperation,
} from '../../support/operations.ts';
import {
  createFaultyClient,
  denied,
  type Fault,
  type FaultyClient,
  PASSING_FAULTS,
  refused,
} from '../../support/store-faults.ts';

// A 500 has its log line, which is not for the test's own output.
beforeEach(() => void vi.spyOn(process.stderr, 'write').mockReturnValue(true));
afterEach(() => void vi.restoreAllMocks());

describe.each(OPERATIONS)('$name', (operation) => {
  let smooth: Run;
  let calls: number;
  let before: LedgerContents;

  const run = (faultAt: (call: number) => Fault | undefined) =>
    runOperation(operation, (client) => createFaultyClient(client, faultAt));

  beforeAll(async () => {
    const clients: FaultyClient[] = [];
    smooth = await runOperation(operation, (client) => {
      const faulty = createFaultyClient(client, () => undefined);
      clients.push(faulty);
      return faulty;
    });
    calls = clients[0]?.calls() ?? 0;
    before = await contentsBefore();
  });

  it('replies and is applied once when nothing goes wrong', () => {
    const { reply, contents } = smooth;
    expect(reply).toMatchObject({ status: operation.status, body: { success: true } });
    if (operation.isRead) expect(contents).toEqual(before);
    else expect(contents).not.toEqual(before);
  });

  it.each(Object.entries(PASSING_FAULTS))(
    'gives the same reply and is applied once when any call meets a %s twice',
    async (_, fault) => {
      for (let at = 0; at < calls; at += 1) {
        const faulty = await run((call) => (call === at || call === at + 1 ? fault : undefined));
        expectSameReply(faulty, smooth);
        expect(faulty.contents).toEqual(smooth.contents);
      }
    },
  );

  it('ends within the deadline with its 500 when the database fails from any call on, and is not applied', async () => {
    for (let at = 0; at < calls; at += 1) {
      const dead = await run((call) => (call >= at ? refused : undefined));
      expectFailure(dead, operation);
      expect(dead.contents).toEqual(before);
      expect(dead.tookMs).toBeLessThanOrEqual(DEFAULT_RETRY_POLICY.deadlineMs);
      expect(dead.delays.length).toBeGreaterThan(3);
    }
  });

  it('ends with its 500 when the database applies any call and then fails before it responds', async () => {
    for (let at = 0; at < calls; at += 1) {
      const dead = await run((call) =>
        call < at ? undefined : call === at ? PASSING_FAULTS['reset after applying'] : refused,
      );
      expectFailure(dead, operation);
      expect([before, smooth.contents]).toContainEqual(dead.contents);
    }
  });

  it('ends at once with its 500 when the database denies a call', async () => {
    for (let at = 0; at < calls; at += 1) {
      const rejected = await run((call) => (call === at ? denied : undefined));
      expectFailure(rejected, operation);
      expect(rejected.contents).toEqual(before);
      expect(rejected.delays).toEqual([]);
    }
  });
});
