// Writes name only the attributes that they change. So attributes that newer code has added to an item survive writes by
// older code, which runs beside it during a deployment.
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { openLedger } from '../../../cli/ledger/open-ledger.ts';
import type { TransactionFields } from '../../../lib/ledger/domain/transaction.ts';
import type { Keys } from '../../../lib/ledger/store/keys.ts';
import { createSchema } from '../../../lib/ledger/store/schema.ts';
import { toTransactionItem } from '../../../lib/ledger/store/transactions.ts';
import type { Key } from '../../../lib/shared/database.ts';
import { createCorruptibleTable } from '../support/corruptible-table.ts';

const { givenLedger, send } = await createCorruptibleTable();

const NEWER_ATTRIBUTE = 'added_by_newer_code';

async function givenNewerItem(selectKey: (keys: Keys) => Key) {
  const { target, keys, verification } = await givenLedger();
  const key = selectKey(keys);
  await send.set(key, NEWER_ATTRIBUTE, 'kept');
  const read = async () => {
    const { client, tableName: TableName } = target;
    return (await client.send(new GetCommand({ TableName, Key: key }))).Item;
  };
  return { ledger: openLedger({ ...target, timeZone: 'UTC' }), keys, verification, read };
}

const BARE: TransactionFields = {
  description: 'Bare',
  amount: 1,
  type: 'expense',
  date: '2026-03-05',
  categoryId: null,
  notes: null,
  externalId: null,
};
const FULL: TransactionFields = {
  description: 'Full',
  amount: 2.5,
  type: 'income',
  date: '2025-12-31',
  categoryId: 2,
  notes: 'Note',
  externalId: 'bank-1',
};

describe('an update of a transaction', () => {
  it.each([
    ['sets every field', [FULL]],
    ['clears every field', [FULL, BARE]],
    ['changes notes alone', [{ notes: 'Note' }]],
  ])('%s, and keeps what newer code added', async (_, updates) => {
    const { ledger, keys, verification, read } = await givenNewerItem((keys) =>
      keys.transaction(1),
    );
    for (const changes of updates) {
      await ledger.transactions.update(await ledger.transactions.find('1'), changes);
    }
    const { [NEWER_ATTRIBUTE]: newer, ...item } = (await read()) ?? {};
    expect(newer).toBe('kept');
    const { categoryName: __, ...transaction } = await ledger.transactions.read('1');
    expect(transaction).toMatchObject(updates.at(-1) ?? {});
    expect(item).toEqual(createSchema().stamp(toTransactionItem(keys, transaction)));
    expect((await verification.verify()).drifts).toEqual([]);
  });
});

it('a repair of a row keeps what newer code added', async () => {
  const { keys, verification, read } = await givenNewerItem((keys) => keys.transaction(1));
  await send.set(keys.transaction(1), 'type_key', 'elsewhere#expense');
  expect((await verification.repair()).verdict.drifts).toEqual([]);
  expect(await read()).toMatchObject({ [NEWER_ATTRIBUTE]: 'kept' });
});

it('an update of a category keeps what newer code added', async () => {
  const { ledger, read } = await givenNewerItem((keys) => keys.category(1));
  await ledger.categories.update(await ledger.categories.find('1'), { name: 'Meals' });
  expect(await read()).toMatchObject({ [NEWER_ATTRIBUTE]: 'kept', name: 'Meals' });
});
