// While others write or an index lags, a verification reports no transient differences, and repairs only real drifts.
import { describe, expect, it } from 'vitest';
import { openLedger } from '../../../../cli/ledger/open-ledger.ts';
import { ConflictError } from '../../../../lib/ledger/errors.ts';
import type { Keys } from '../../../../lib/ledger/store/keys.ts';
import {
  createVerification,
  type Progress,
  type VerificationPosition,
} from '../../../../lib/ledger/store/verification/verification.ts';
import { callOnceBefore, interpose } from '../../../shared/support/interposed-client.ts';
import { createSleeplessRetryPolicy } from '../../../shared/support/sleepless-retry-policy.ts';
import type { Client } from '../../../shared/support/store-faults.ts';
import { createCorruptibleTable } from '../../support/corruptible-table.ts';

const { givenLedger, send } = await createCorruptibleTable();

/** Makes category 1 count too many rows. @param betweenReadings runs between two readings of the verification */
async function givenDrift(betweenReadings: (keys: Keys, readings: number) => Promise<unknown>) {
  const { target, keys } = await givenLedger();
  await send.set(keys.category(1), 'transaction_count', 7);
  let readings = 1;
  const retryPolicy = {
    ...createSleeplessRetryPolicy(),
    sleep: async () => {
      readings += 1;
      await betweenReadings(keys, readings);
    },
  };
  return { verification: createVerification({ ...target, retryPolicy }), readings: () => readings };
}

describe('while other requests write', () => {
  it('a difference that only one of two readings finds is not a drift', async () => {
    const { verification } = await givenDrift(async (keys) => {
      await send.set(keys.category(1), 'transaction_count', 8);
      await send.delete(keys.categoryName('Pay'));
    });
    expect((await verification.verify()).drifts).toEqual([]);
  });

  it('a difference that two readings find and the third does not is not a drift', async () => {
    const { verification, readings } = await givenDrift(async (keys, reading) => {
      if (reading === 3) await send.set(keys.category(1), 'transaction_count', 2);
    });
    expect((await verification.verify()).drifts).toEqual([]);
    expect(readings()).toBe(3);
  });

  it('a verification that resumes reports exactly what an uninterrupted one does', async () => {
    const { target, keys } = await givenLedger();
    await send.set(keys.category(1), 'transaction_count', 7);
    const saved: VerificationPosition[] = [];
    const progress: Progress = {
      load: async () => saved.at(-1),
      save: async (position) => void saved.push(structuredClone(position)),
      clear: async () => void saved.splice(0),
    };
    const stoppingClient = interpose(target.client, (name) => {
      if (name === 'QueryCommand') throw new Error('Stopped');
    });
    const options = { retryPolicy: createSleeplessRetryPolicy(), isFull: false, progress };
    const first = createVerification({ ...target, ...options, client: stoppingClient });
    await expect(first.verify()).rejects.toThrow('Stopped');
    // Simulates a first reading in which each row had another day and category.
    saved[0]?.figures.tally.counters.clear();
    const { drifts } = await createVerification({ ...target, ...options }).verify();
    expect(drifts).toMatchObject([{ what: 'category count', recorded: 7, recomputed: 2 }]);
    expect(saved).toEqual([]);
  });

  it('drifts that another process fixed after the last reading are not repaired', async () => {
    const { target, keys } = await givenLedger();
    await send.set(keys.category(1), 'transaction_count', 7);
    await send.delete(keys.categoryName('Pay'));
    const client = callOnceBefore(target.client, 'TransactWriteCommand', async () => {
      await send.set(keys.category(1), 'transaction_count', 2);
      await send.put({ ...keys.categoryName('Pay'), category_id: 2 });
    });
    const verification = createVerification({
      ...target,
      client,
      retryPolicy: createSleeplessRetryPolicy(),
    });
    expect(await verification.repair()).toEqual({
      repaired: [],
      verdict: { rows: 4, categories: 2, drifts: [] },
    });
  });
});

describe('a lagging index', () => {
  /** Creates a client whose index queries find only the oldest row. */
  function createLaggingClient({ client }: { readonly client: Client }): Client {
    const send = async (command: Parameters<Client['send']>[0], options: object) => {
      const result = (await client.send(command, options)) as { Items?: unknown[] };
      const readsIndex = 'IndexName' in command.input && command.input.IndexName !== undefined;
      return readsIndex ? { ...result, Items: result.Items?.slice(-1) } : result;
    };
    return { send: send as Client['send'] };
  }

  it('does not lower a counter, so that a category in use stays in use', async () => {
    const { target } = await givenLedger();
    const verification = createVerification({
      ...target,
      client: createLaggingClient(target),
      retryPolicy: createSleeplessRetryPolicy(),
    });
    expect(await verification.repair()).toEqual({
      repaired: [],
      verdict: { rows: 4, categories: 2, drifts: [] },
    });
    const { categories } = openLedger({ ...target, timeZone: 'UTC' });
    await expect(categories.deactivate('1')).rejects.toThrow(ConflictError);
  });
});
