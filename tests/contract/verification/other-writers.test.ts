// A verification that runs beside writers takes their work for no drift, and undoes none of it.
import { describe, expect, it } from 'vitest';
import { createVerification } from '../../../lib/ledger/verification.ts';
import { onceBefore } from '../../support/interposed-client.ts';
import { createSleeplessRetryPolicy } from '../../support/sleepless-retry-policy.ts';
import { createSpoilableTable } from '../../support/spoilable-table.ts';

const { givenLedger, send } = await createSpoilableTable();

describe('beside other writers', () => {
  it('a difference that only one look sees is not a drift', async () => {
    const { target, keys } = await givenLedger();
    await send.set(keys.category(1), 'transaction_count', 7);
    const retryPolicy = {
      ...createSleeplessRetryPolicy(),
      sleep: async () => void (await send.set(keys.category(1), 'transaction_count', 2)),
    };
    const { drifts } = await createVerification({ ...target, retryPolicy }).verify();
    expect(drifts).toEqual([]);
  });

  it('differences that the two looks do not share are not drifts', async () => {
    const { target, keys } = await givenLedger();
    await send.set(keys.category(1), 'transaction_count', 7);
    const retryPolicy = {
      ...createSleeplessRetryPolicy(),
      sleep: async () => {
        await send.set(keys.category(1), 'transaction_count', 8);
        await send.delete(keys.categoryName('Pay'));
      },
    };
    const { drifts } = await createVerification({ ...target, retryPolicy }).verify();
    expect(drifts).toEqual([]);
  });

  it('what changed after the last look is not mended', async () => {
    const { target, keys } = await givenLedger();
    await send.set(keys.category(1), 'transaction_count', 7);
    await send.delete(keys.categoryName('Pay'));
    const client = onceBefore(target.client, 'TransactWriteCommand', async () => {
      await send.set(keys.category(1), 'transaction_count', 2);
      await send.put({ ...keys.categoryName('Pay'), category_id: 2 });
    });
    const verification = createVerification({
      ...target,
      client,
      retryPolicy: createSleeplessRetryPolicy(),
    });
    expect(await verification.repair()).toEqual({
      mended: [],
      verdict: { rows: 4, categories: 2, drifts: [] },
    });
  });
});
