// The meter between a ledger and its client: sums, and how many calls had to wait for one another.
import { GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { createMeteredClient, type MeteredClient } from '../../../bench/metered-client.ts';

const UNIT = { ConsumedCapacity: { CapacityUnits: 1 } };

function read(client: MeteredClient): Promise<unknown> {
  return client.send(new GetCommand({ TableName: 'ledger', Key: {} }));
}

/** Answers in the order in which they are told to. */
function clientOnCue() {
  const waiting: (() => void)[] = [];
  const send = () =>
    new Promise((resolve) => {
      waiting.push(() => resolve(UNIT));
    });
  return { client: createMeteredClient({ send: send as never }), waiting };
}

function clientOf(answer: object) {
  const inputs: object[] = [];
  const send = async ({ input }: { input: object }) => {
    inputs.push(input);
    return answer;
  };
  return { client: createMeteredClient({ send: send as never }), inputs };
}

describe('a metered client', () => {
  it('asks for the capacity and passes the answer on', async () => {
    const { client, inputs } = clientOf(UNIT);
    const { result, cost } = await client.measure(() => read(client));
    expect(inputs).toEqual([{ TableName: 'ledger', Key: {}, ReturnConsumedCapacity: 'TOTAL' }]);
    expect(result).toBe(UNIT);
    expect(cost).toEqual({ readUnits: 1, writeUnits: 0, calls: 1, roundTrips: 1 });
  });

  it('sums what a transaction took of each table', async () => {
    const { client } = clientOf({
      ConsumedCapacity: [{ CapacityUnits: 12 }, { CapacityUnits: 4 }],
    });
    const write = new TransactWriteCommand({ TransactItems: [] });
    const { cost } = await client.measure(() => client.send(write));
    expect(cost).toMatchObject({ readUnits: 0, writeUnits: 16 });
  });

  it('starts from nothing with every measurement', async () => {
    const { client } = clientOf(UNIT);
    await client.measure(() => read(client));
    const { cost } = await client.measure(async () => undefined);
    expect(cost).toEqual({ readUnits: 0, writeUnits: 0, calls: 0, roundTrips: 0 });
  });

  it('takes no silence for a price of nothing', async () => {
    const { client } = clientOf({});
    await expect(read(client)).rejects.toThrow(/does not tell the capacity/);
  });
});

describe('round trips', () => {
  it('one after another all count', async () => {
    const { client } = clientOf(UNIT);
    const { cost } = await client.measure(async () => {
      await read(client);
      await read(client);
      await read(client);
    });
    expect(cost).toMatchObject({ calls: 3, roundTrips: 3 });
  });

  it('side by side count once', async () => {
    const { client } = clientOf(UNIT);
    const { cost } = await client.measure(() => Promise.all([read(client), read(client)]));
    expect(cost).toMatchObject({ calls: 2, roundTrips: 1 });
  });

  it('a long one beside two short ones adds nothing', async () => {
    const { client, waiting } = clientOnCue();
    const { cost } = await client.measure(async () => {
      const long = read(client);
      const short = read(client);
      waiting[1]?.();
      await short;
      const next = read(client);
      waiting[2]?.();
      await next;
      waiting[0]?.();
      await long;
    });
    expect(cost).toMatchObject({ calls: 3, roundTrips: 2 });
  });
});
