// Every request to a ledger gets its own context. property/isolation.test.ts shows that ledgers stay separate.
import { expect, test } from 'vitest';
import { createLedgerEndpoint } from '../../../../lib/ledger/http/endpoint.ts';
import { replyDeleted } from '../../../../lib/ledger/http/replies.ts';
import { createLedgerService, type LedgerServiceOptions } from '../../../../lib/ledger/ledger.ts';
import { DEFAULT_RETRY_POLICY } from '../../../../lib/shared/retry.ts';
import { invoke } from '../../support/api/invoke.ts';

function createService() {
  const signal = new AbortController().signal;
  let now = 1_000;
  const service = createLedgerService({
    client: {} as LedgerServiceOptions['client'],
    tableName: 't',
    ledgerId: 'home',
    timeZone: 'UTC',
    retryPolicy: { ...DEFAULT_RETRY_POLICY, deadlineMs: 500, now: () => now },
    timeoutSignal: () => signal,
  });
  const advance = () => {
    now += 100;
  };
  return { service, signal, advance };
}

test('the context has the id of the request, the ledger, and a deadline counted from its start', async () => {
  const { service, signal, advance } = createService();
  const contexts: unknown[] = [];
  const handler = createLedgerEndpoint(service, 'deleteTransaction').handler(
    async ({ context }) => {
      contexts.push(context);
      return replyDeleted('Deleted');
    },
  );
  await invoke(handler, {}, { awsRequestId: 'one' });
  advance();
  await invoke(handler, {}, { awsRequestId: 'two' });
  expect(contexts).toEqual([
    { requestId: 'one', ledger: 'home', deadline: 1_500, signal, onRetry: expect.any(Function) },
    { requestId: 'two', ledger: 'home', deadline: 1_600, signal, onRetry: expect.any(Function) },
  ]);
});
