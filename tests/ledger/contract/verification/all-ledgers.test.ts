// One scan of a table verifies all its ledgers, and skips all other items.
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { openLedger } from '../../../../cli/ledger/open-ledger.ts';
import { createApiKeys } from '../../../../lib/ledger/store/api-keys.ts';
import { createKeys, SEQUENCE_KINDS } from '../../../../lib/ledger/store/keys.ts';
import { openTable } from '../../../../lib/ledger/store/ledger-items.ts';
import { registerLedgers } from '../../../../lib/ledger/store/list-of-ledgers.ts';
import { createRemoval } from '../../../../lib/ledger/store/removal.ts';
import { verifyAllLedgers } from '../../../../lib/ledger/store/verification/all-ledgers.ts';
import { createDatabase } from '../../../../lib/shared/database.ts';
import { interpose } from '../../../shared/support/interposed-client.ts';
import { createSleeplessRetryPolicy } from '../../../shared/support/sleepless-retry-policy.ts';
import { bulkLoadHousehold } from '../../support/bulk-loader.ts';
import { createCorruptibleTable } from '../../support/corruptible-table.ts';

const HOUSEHOLD = { transactions: 200, years: 2, lastDay: '2026-06-30', seed: 3 };

it('a verification names each ledger whose figures do not match its rows, and no other', async () => {
  const { givenLedger, send } = await createCorruptibleTable();
  const [intact, corrupted] = [await givenLedger(), await givenLedger()];
  const { client, tableName } = intact.target;
  await bulkLoadHousehold({ ...intact.target, ledgerId: 'household' }, HOUSEHOLD);
  const database = createDatabase({
    client,
    tableName,
    retryPolicy: createSleeplessRetryPolicy(),
  });
  const keys = createApiKeys({ database, clock: () => new Date() });
  await keys.create({ name: 'phone', ledger: intact.target.ledgerId, scope: 'write' });
  await send.put({ pk: '@migration', sk: 'lock', active_run: 'spring' });
  const noProblems = { unbalanced: [], unlisted: [], missing: [] };
  expect(await verifyAllLedgers(intact.target)).toEqual({ ledgers: 3, rows: 208, ...noProblems });

  await send.set(corrupted.keys.transaction(1), 'amount', 2);
  let calls = 0;
  const countingSend = ((command: object, ...options: []) => {
    expect(command).toBeInstanceOf(ScanCommand);
    calls += 1;
    return client.send(command as ScanCommand, ...options);
  }) as typeof client.send;
  let items = 0;
  const verdict = await verifyAllLedgers({
    client: { send: countingSend },
    tableName,
    onItem: (count) => {
      items = count;
    },
  });
  expect(verdict.unbalanced).toEqual([corrupted.target.ledgerId]);
  expect(calls).toBe(1);
  expect(items).toBeGreaterThan(208);
});

it('a verification finds a ledger that the list of ledgers lacks, and an entry without a ledger', async () => {
  const { givenLedger, send } = await createCorruptibleTable();
  const [listed, unlisted] = [await givenLedger(), await givenLedger()];
  await send.delete(unlisted.keys.registration);
  await send.put(createKeys('lost').registration);
  // The ledger "empty" has the record of an import, but no id yet, and so no entry in the list of ledgers.
  const { importedRows } = openLedger({ ...listed.target, ledgerId: 'empty', timeZone: 'UTC' });
  await importedRows.record({ importId: 'bank.csv', part: 1, rows: ['a'] });
  const verdict = await verifyAllLedgers(listed.target);
  const problems = { unlisted: [unlisted.target.ledgerId], missing: ['lost'] };
  expect(verdict).toMatchObject({ unbalanced: [], ...problems });
  // The command that a restore advises removes the entry.
  const lost = createRemoval({ ...listed.target, ledgerId: 'lost' });
  expect([await lost.exists(), await lost.remove(() => undefined)]).toEqual([true, 1]);
  expect((await verifyAllLedgers(listed.target)).missing).toEqual([]);
});

it('a table older than the list of ledgers has no problem once its ledgers are added', async () => {
  const { givenLedger, send } = await createCorruptibleTable();
  const [first, second] = [await givenLedger(), await givenLedger()];
  for (const { keys } of [first, second]) {
    await send.delete(keys.registration);
    for (const kind of SEQUENCE_KINDS) await send.remove(keys.sequence(kind), 'v');
  }
  const { target } = first;
  const { categories } = openLedger({ ...target, ledgerId: 'no-rows', timeZone: 'UTC' });
  await categories.create({ name: 'Food', description: null, color: null, isActive: true });
  await send.delete(createKeys('no-rows').registration);
  const { unbalanced, unlisted } = await verifyAllLedgers(target);
  const ledgerIds = [target.ledgerId, second.target.ledgerId, 'no-rows'];
  expect([unbalanced, unlisted.toSorted()]).toEqual([[], ledgerIds.toSorted()]);
  const table = openTable({ ...target, retryPolicy: createSleeplessRetryPolicy() });
  expect(await registerLedgers(table, [...ledgerIds, 'never-used'])).toBe(3);
  expect(await registerLedgers(table, ledgerIds)).toBe(0);
  expect(await verifyAllLedgers(target)).toMatchObject({
    unbalanced: [],
    unlisted: [],
    missing: [],
  });
});

it('a ledger whose first request failed before it got an id has no problem', async () => {
  const { givenLedger } = await createCorruptibleTable();
  const { target } = await givenLedger();
  let sequenceUpdates = 0;
  const client = interpose(target.client, (name) => {
    if (name !== 'UpdateCommand') return;
    sequenceUpdates += 1;
    if (sequenceUpdates === 2) throw new Error('killed');
  });
  const { categories } = openLedger({ ...target, client, ledgerId: 'new-ledger', timeZone: 'UTC' });
  const food = { name: 'Food', description: null, color: null, isActive: true };
  await expect(categories.create(food)).rejects.toThrow('killed');
  const noProblems = { unbalanced: [], unlisted: [], missing: [] };
  expect(await verifyAllLedgers(target)).toMatchObject({ ledgers: 2, ...noProblems });
});

it('a verification reports a ledger that lost a row', async () => {
  const { givenLedger, send } = await createCorruptibleTable();
  const { target, keys } = await givenLedger();
  await send.delete(keys.transaction(4));
  expect((await verifyAllLedgers(target)).unbalanced).toEqual([target.ledgerId]);
});
