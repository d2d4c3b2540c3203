// Runs over a table of the test's own, with a clock that the test turns.
import { BatchWriteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { createRemembering } from '../../../lib/migration/runs/remembering.ts';
import type { Plan } from '../../../lib/migration/runs/run.ts';
import { createTestTable } from '../test-table.ts';
import { createManualTicker } from './manual-ticker.ts';

export { LEASE_MS } from '../../../lib/migration/runs/remembering.ts';

export const PLAN: Plan = {
  sourceCollection: 'memories',
  targetCollection: 'memories_v3_first-run',
  windowMinutes: 30,
  drainSeconds: 60,
  retentionDays: 30,
  accepts: [],
  removesWhenOver: false,
  removesArtifactsWhenOver: false,
};

/** All items of a run table and the time of its clock. */
export interface RunTableImage {
  readonly items: readonly Record<string, unknown>[];
  readonly time: number;
}

const NEW: RunTableImage = { items: [], time: Date.parse('2026-03-01T09:00:00Z') };

export async function createRunTable({ items, time: start }: RunTableImage = NEW) {
  const { client, tableName } = await createTestTable();
  if (items.length > 0) {
    const RequestItems = { [tableName]: items.map((Item) => ({ PutRequest: { Item } })) };
    await client.send(new BatchWriteCommand({ RequestItems }));
  }
  let time = start;
  const clock = () => new Date(time);
  const { ticker, beat, intervals } = createManualTicker();
  return {
    ...createRemembering({ client, tableName, clock, ticker }),
    beat,
    beatIntervals: intervals,
    pass: (milliseconds: number) => {
      time += milliseconds;
    },
    imageOfTable: async (): Promise<RunTableImage> => {
      const scan = new ScanCommand({ TableName: tableName, ConsistentRead: true });
      return { items: (await client.send(scan)).Items ?? [], time };
    },
  };
}
