// One scan verifies all ledgers of a table, and skips the table's other items.
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { openLedger } from '../../../../cli/ledger/open-ledger.ts';
import { createApiKeys } from '../../../../lib/ledger/store/api-keys.ts';
import { createKeys } from '../../../../lib/ledger/store/keys.ts';
import { verifyAllLedgers } from '../../../../lib/ledger/store/verification/all-ledgers.ts';
import { createDatabase } from '../../../../lib/shared/database.ts';
import { createSleeplessRetryPolicy } from '../../../shared/support/sleepless-retry-policy.ts';
import { bulkLoadHousehold } from '../../support/bulk-loader.ts';
import { createCorruptibleTable } from '../../support/corruptible-table.ts';

const HOUSEHOLD = { transactions: 200, years: 2, lastDay: '2026-06-30', seed: 3 };

it('names each ledger whose figures do not follow from its rows, and no other', async () => {
  const { givenLedger, send } = await createCorruptibleTable();
  const [even, uneven] = [await givenLedger(), await givenLedger()];
  const { client, tableName } = even.target;
  await bulkLoadHousehold({ ...even.target, ledgerId: 'household' }, HOUSEHOLD);
  const database = createDatabase({
    client,
    tableName,
    retryPolicy: createSleeplessRetryPolicy(),
  });
  const keys = createApiKeys({ database, clock: () => new Date() });
  await keys.create({ name: 'phone', ledger: even.target.ledgerId, scope: 'write' });
  await send.put({ pk: '@migration', sk: 'lock', active_run: 'spring' });
  expect(await verifyAllLedgers(even.target)).toEqual({ ledgers: 3, rows: 208, uneven: [] });

  await send.set(uneven.keys.transaction(1), 'amount', 2);
  let calls = 0;
  const counting = ((command: object, ...options: []) => {
    expect(command).toBeInstanceOf(ScanCommand);
    calls += 1;
    return client.send(command as ScanCommand, ...options);
  }) as typeof client.send;
  let items = 0;
  const verdict = await verifyAllLedgers({
    client: { send: counting },
    tableName,
    onItem: (count) => {
      items = count;
    },
  });
  expect(verdict.uneven).toEqual([uneven.target.ledgerId]);
  expect(calls).toBe(1);
  expect(items).toBeGreaterThan(208);
});

it('a ledger that the list of ledgers lacks is found, and one that it has alone', async () => {
  const { givenLedger, send } = await createCorruptibleTable();
  const [listed, unlisted] = [await givenLedger(), await givenLedger()];
  await send.delete(unlisted.keys.registration);
  await send.put(createKeys('lost').registration);
  // Recorded before its ledger has an id.
  const { importedRows } = openLedger({ ...listed.target, ledgerId: 'empty', timeZone: 'UTC' });
  await importedRows.record({ importId: 'bank.csv', part: 1, rows: ['a'] });
  const { uneven } = await verifyAllLedgers(listed.target);
  expect(uneven.toSorted()).toEqual([unlisted.target.ledgerId, 'lost']);
});

it('a row that was lost is found', async () => {
  const { givenLedger, send } = await createCorruptibleTable();
  const { target, keys } = await givenLedger();
  await send.delete(keys.transaction(4));
  expect((await verifyAllLedgers(target)).uneven).toEqual([target.ledgerId]);
});
