// The records of runs on a separate table, with a clock and heartbeats that the test controls.

import type { LeaseHolder } from '../../../lib/migration/runs/lease-holder.ts';
import type { Plan, Reference } from '../../../lib/migration/runs/run.ts';
import type { Ticker } from '../../../lib/migration/runs/run-lock.ts';
import { createRunRecords } from '../../../lib/migration/runs/run-store.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { createMemoryTable } from './memory-table.ts';

export { LEASE_MS } from '../../../lib/migration/runs/run-store.ts';

export const RUN = 'run-a';

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

/** Report of a preflight */
export const REPORT: Reference = {
  artifact: 'preflight-report',
  digest: 'a'.repeat(64),
  recordedAt: 0,
  facts: {},
};

/** All items of a run table and the time of its clock. */
export interface RunTableImage {
  readonly items: readonly Record<string, unknown>[];
  readonly time: number;
}

const EMPTY_TABLE: RunTableImage = { items: [], time: Date.parse('2026-03-01T09:00:00Z') };

type RunTableOptions = Pick<
  Parameters<typeof createRunRecords>[0],
  'client' | 'tableName' | 'holder'
>;

/** Opens the records of runs on a table in memory. */
export function createRunTable(start: RunTableImage = EMPTY_TABLE) {
  const table = createMemoryTable(start.items);
  const runTable = openRunTable(table, start.time);
  const image = (): RunTableImage => {
    return { items: table.items(), time: runTable.clock().getTime() };
  };
  return { ...runTable, image };
}

export type RunTable = ReturnType<typeof openRunTable>;

/** Opens the records of runs on any table. */
function openRunTable(options: RunTableOptions, start = EMPTY_TABLE.time) {
  let time = start;
  const clock = () => new Date(time);
  const { ticker, beat, intervals } = createManualTicker();
  const records = createRunRecords({ ...options, clock, ticker });
  return {
    ...records,
    /** Opens the records on the same table again, as another process would. */
    asProcess: (holder: LeaseHolder) => createRunRecords({ ...options, clock, ticker, holder }),
    begin: (runId: string) => records.runs.start(runId, PLAN, REPORT),
    beat,
    beatIntervals: intervals,
    advanceClock: (milliseconds: number) => {
      time += milliseconds;
    },
  };
}

/** A table in memory and a real one: both behave the same. */
export const RUN_TABLES: readonly (readonly [where: string, open: () => Promise<RunTable>])[] = [
  ['in memory', async () => createRunTable()],
  ['on the database', async () => openRunTable(await createTestTable())],
];

interface ManualTicker {
  readonly ticker: Ticker;
  /** Sends one beat to each waiting lease; returns when all have responded. */
  beat(): Promise<void>;
  /** Intervals that the heartbeats still running have asked for */
  intervals(): number[];
}

export function createManualTicker(): ManualTicker {
  const waiting = new Set<{ readonly everyMs: number; readonly tick: () => Promise<void> }>();
  return {
    ticker(everyMs, tick) {
      const ticker = { everyMs, tick };
      waiting.add(ticker);
      return () => waiting.delete(ticker);
    },
    beat: async () => {
      await Promise.all([...waiting].map(({ tick }) => tick()));
    },
    intervals: () => [...waiting].map(({ everyMs }) => everyMs),
  };
}
