// A client that measures its calls: their number, their capacity units, and the longest chain of calls that wait for each other.
import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

type Client = Pick<DynamoDBDocumentClient, 'send'>;

export interface Cost {
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly calls: number;
  /** Length of the longest chain of calls in which each call started after the previous call had ended. */
  readonly roundTrips: number;
}

export interface MeteredClient extends Client {
  /** Measures the total cost of the calls in `work`. Two measurements must not overlap. */
  readonly measure: <Result>(work: () => Promise<Result>) => Promise<Measured<Result>>;
}

export interface Measured<Result> {
  readonly result: Result;
  readonly cost: Cost;
}

const NO_COST: Cost = { readUnits: 0, writeUnits: 0, calls: 0, roundTrips: 0 };

interface MeteredResponse {
  readonly ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[] | undefined;
}

export function createMeteredClient(client: Client): MeteredClient {
  let cost = NO_COST;

  async function send(command: Parameters<Client['send']>[0]): Promise<unknown> {
    Object.assign(command.input, { ReturnConsumedCapacity: 'TOTAL' });
    const roundTrip = cost.roundTrips + 1;
    const response = (await client.send(command)) as MeteredResponse;
    const units = sumUnits(response);
    const isRead = ['GetCommand', 'QueryCommand'].includes(command.constructor.name);
    cost = {
      readUnits: cost.readUnits + (isRead ? units : 0),
      writeUnits: cost.writeUnits + (isRead ? 0 : units),
      calls: cost.calls + 1,
      roundTrips: Math.max(cost.roundTrips, roundTrip),
    };
    return response;
  }

  async function measure<Result>(work: () => Promise<Result>): Promise<Measured<Result>> {
    cost = NO_COST;
    const result = await work();
    return { result, cost };
  }

  return { send: send as Client['send'], measure };
}

/** @throws Error if the engine reports no units, because missing units must not count as zero */
function sumUnits({ ConsumedCapacity: consumed = [] }: MeteredResponse): number {
  const consumptions = Array.isArray(consumed) ? consumed : [consumed];
  if (consumptions.length === 0)
    throw new Error('The engine does not report the capacity that it consumed');
  return consumptions.reduce((sum, { CapacityUnits }) => sum + Number(CapacityUnits), 0);
}
