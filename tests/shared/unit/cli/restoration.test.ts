// A restore that was killed at any call, before or after the call took effect, can be continued. Clients never write to an
// unverified table, and never to the damaged table once the restore has begun.
import type { TableDescription } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import {
  createRestoration,
  nameRestoredTable,
  runSteps,
} from '../../../../cli/restore/restoration.ts';
import { findWriters } from '../../../../cli/restore/stage-on-aws.ts';
import type { TableVerdict } from '../../../../lib/ledger/store/verification/all-ledgers.ts';

const TIME = new Date('2026-03-05T08:30:00Z');
const DAMAGED = 'finance-ledger-prod';
const RESTORED = 'finance-ledger-prod-at-20260305T083000Z';
const LIMITS = { MaxReadRequestUnits: 5000, MaxWriteRequestUnits: 4000 };
const WRITERS = ['create', 'delete'];

class Killed extends Error {}

interface FakeTable {
  description: TableDescription;
  isRecoverable: boolean;
  isExpiryOn: boolean;
  readonly tags: Map<string, string>;
  /** Number of times that the table is described before it becomes active */
  busyFor: number;
}

function createAws() {
  const stopped = new Set<string>();
  const log: string[] = [];
  const stack = { tableInUse: DAMAGED, status: 'UPDATE_COMPLETE', busyFor: 0 };
  const tables = new Map<string, FakeTable>([
    [
      DAMAGED,
      {
        description: {
          TableArn: DAMAGED,
          TableStatus: 'ACTIVE',
          OnDemandThroughput: LIMITS,
          DeletionProtectionEnabled: true,
        },
        isRecoverable: true,
        isExpiryOn: true,
        tags: new Map([['stage', 'prod']]),
        busyFor: 0,
      },
    ],
  ]);
  const getTable = (name: string) => {
    const table = tables.get(name);
    if (!table) throw new Error(`There is no table ${name}`);
    return table;
  };
  const changeTable = (name: string, work: (table: FakeTable) => void) => {
    const table = getTable(name);
    if (table.busyFor > 0) throw new Error(`${name} is busy`);
    work(table);
    table.busyFor = 2;
  };
  const calls = {
    async readStack() {
      if (stack.busyFor > 0) stack.busyFor -= 1;
      else stack.status = 'UPDATE_COMPLETE';
      return { ...stack };
    },
    async useTable(name: string) {
      log.push(`use ${name}, ${stopped.size} stopped, ${[...getTable(name).tags.keys()].sort()}`);
      Object.assign(stack, { tableInUse: name, status: 'UPDATE_IN_PROGRESS', busyFor: 20 });
    },
    listWriters: async () => WRITERS,
    areWritesStopped: async (name: string) => stopped.has(name),
    async stopWrites(name: string) {
      stopped.add(name);
    },
    readFunctionTable: async (_name: string) => stack.tableInUse,
    async allowWrites(name: string) {
      log.push(`allow on ${stack.tableInUse}`);
      stopped.delete(name);
    },
    async describeTable(name: string) {
      const table = tables.get(name);
      if (!table) return undefined;
      const isBusy = table.busyFor > 0;
      if (isBusy) table.busyFor -= 1;
      return { ...table.description, TableStatus: isBusy ? 'UPDATING' : 'ACTIVE' } as const;
    },
    async readRecovery(name: string) {
      const latest = new Date('2026-03-06T00:00:00Z');
      return { earliest: new Date(0), latest, days: 35, isOn: getTable(name).isRecoverable };
    },
    async restore(source: string, target: string, time: Date) {
      log.push(`restore ${source} ${time.toISOString()}, ${stopped.size} stopped`);
      if (tables.has(target)) throw new Error('TableAlreadyExists');
      const description = { TableArn: target, GlobalSecondaryIndexes: [{ IndexName: 'all' }] };
      const bare = { isRecoverable: false, isExpiryOn: false, tags: new Map(), busyFor: 3 };
      tables.set(target, { description, ...bare });
    },
    protectFromDeletion: async (name: string) =>
      changeTable(name, (table) => {
        table.description = { ...table.description, DeletionProtectionEnabled: true };
      }),
    limitThroughput: async (name: string, OnDemandThroughput: object, indexes: readonly string[]) =>
      changeTable(name, (table) => {
        expect(indexes).toEqual(['all']);
        table.description = { ...table.description, OnDemandThroughput };
      }),
    enableRecovery: async (name: string, days: number | undefined) =>
      changeTable(name, (table) => {
        expect(days).toBe(35);
        table.isRecoverable = true;
      }),
    isExpiryOn: async (name: string) => getTable(name).isExpiryOn,
    enableExpiry: async (name: string) =>
      changeTable(name, (table) => {
        table.isExpiryOn = true;
      }),
    readTags: async (name: string) => new Map(getTable(name).tags),
    async addTags(name: string, tags: ReadonlyMap<string, string>) {
      for (const [key, value] of tags) getTable(name).tags.set(key, value);
    },
  };
  return { calls, log, stopped, stack, getTable };
}

type FakeAws = ReturnType<typeof createAws>;

/** Wraps the calls so that the n-th call kills the command, before or after it takes effect. */
function killAt({ calls }: FakeAws, n: number, isAfter: boolean): FakeAws['calls'] {
  let callCount = 0;
  const wrapped = Object.entries(calls).map(([name, call]) => [
    name,
    async (...parameters: never[]) => {
      callCount += 1;
      if (callCount === n && !isAfter) throw new Killed();
      const result = await (call as (...args: never[]) => Promise<unknown>)(...parameters);
      if (callCount === n) throw new Killed();
      return result;
    },
  ]);
  return Object.fromEntries(wrapped);
}

async function restore(
  aws: FakeAws['calls'],
  {
    report = () => undefined,
    isRestored = false,
    addToLedgerList = async () => 0,
    ...verdict
  }: Partial<TableVerdict> & {
    report?: (line: string) => void;
    isRestored?: boolean;
    addToLedgerList?: (tableName: string, ledgerIds: readonly string[]) => Promise<number>;
  } = {},
) {
  const { tableInUse } = await aws.readStack();
  const { steps } = createRestoration({
    aws: { ...aws, stackName: DAMAGED },
    stage: 'prod',
    source: tableInUse,
    target: nameRestoredTable(DAMAGED, TIME),
    time: isRestored ? undefined : TIME,
    verify: async () => ({
      ...{ ledgers: 2, rows: 9, unbalanced: [], unlisted: [], missing: [] },
      ...verdict,
    }),
    addToLedgerList,
    sleep: async () => undefined,
    report,
  });
  await runSteps(steps, report);
}

function expectRestored({ stack, stopped, getTable, log }: FakeAws): void {
  expect([stack.tableInUse, stack.status, stopped.size]).toEqual([RESTORED, 'UPDATE_COMPLETE', 0]);
  expect(getTable(RESTORED)).toMatchObject({
    description: { DeletionProtectionEnabled: true, OnDemandThroughput: LIMITS },
    isRecoverable: true,
    isExpiryOn: true,
    tags: new Map([
      ['stage', 'prod'],
      ['verified', 'all ledgers'],
    ]),
  });
  expect(log.filter((line) => !line.startsWith('allow'))).toEqual([
    `restore ${DAMAGED} ${TIME.toISOString()}, 2 stopped`,
    `use ${RESTORED}, 2 stopped, stage,verified`,
  ]);
  for (const line of log.filter((each) => each.startsWith('allow'))) {
    expect(line).toBe(`allow on ${RESTORED}`);
  }
}

describe('a restore', () => {
  it('stops writes, restores, protects, verifies, switches and allows writes, in this order', async () => {
    const fake = createAws();
    await restore(fake.calls);
    expectRestored(fake);
  });

  it.each([false, true])(
    'resumes after it was killed at any call (after its effect: %s)',
    async (isAfter) => {
      let kills = 0;
      for (let n = 1; ; n += 1) {
        const fake = createAws();
        const outcome = await restore(killAt(fake, n, isAfter)).catch((error: unknown) => error);
        if (outcome === undefined) break;
        expect(outcome).toBeInstanceOf(Killed);
        kills += 1;
        await restore(fake.calls);
        expectRestored(fake);
      }
      expect(kills).toBeGreaterThan(40);
    },
  );

  it('changes nothing when it is done', async () => {
    const fake = createAws();
    await restore(fake.calls);
    const lines: string[] = [];
    await restore(fake.calls, { report: (line) => lines.push(line) });
    expect(lines).toHaveLength(6);
    for (const line of lines) expect(line).toMatch(/: done$/);
    expectRestored(fake);
  });

  it('does not switch to a table whose ledgers have drifted, and names the ledgers', async () => {
    const fake = createAws();
    await expect(restore(fake.calls, { unbalanced: ['home'] })).rejects.toThrow(
      /^1 of 2 ledgers differ from their rows: home\. Repair each with "TABLE_NAME=finance-ledger-prod-at-20260305T083000Z LEDGER_ID=<ledger> npm run verify-ledger -- --stage prod --repair"\. Then repeat this command\.$/,
    );
    expect([fake.stack.tableInUse, fake.stopped.size]).toEqual([DAMAGED, 2]);
    await restore(fake.calls);
    expectRestored(fake);
  });

  it('adds the ledgers that an earlier release created, reports them, and continues', async () => {
    const fake = createAws();
    const lines: string[] = [];
    const listed: unknown[] = [];
    await restore(fake.calls, {
      unlisted: ['home', 'shop'],
      report: (line) => lines.push(line),
      addToLedgerList: async (...args) => {
        listed.push(args);
        return 2;
      },
    });
    expect(listed).toEqual([[RESTORED, ['home', 'shop']]]);
    expect(lines).toContain('2 ledgers of an earlier release were added to the list of ledgers');
    expectRestored(fake);
  });

  it('does not switch to a table that lacks a listed ledger, and says how to remove a ledger from the list', async () => {
    const fake = createAws();
    const faults = { missing: ['gone'], unbalanced: ['home'] };
    await expect(restore(fake.calls, faults)).rejects.toThrow(
      /^1 of 2 .* 1 ledgers are only in the list of ledgers: gone\. .* "TABLE_NAME=finance-ledger-prod-at-20260305T083000Z npm run ledger -- --stage prod delete --ledger <ledger>"\. Then repeat this command\.$/,
    );
    expect([fake.stack.tableInUse, fake.stopped.size]).toEqual([DAMAGED, 2]);
    await expect(restore(fake.calls, { missing: ['gone'] })).rejects.toThrow(
      /^1 ledgers are only in/,
    );
  });

  it('switches to a table that exists already, and fails if it is missing', async () => {
    const fake = createAws();
    const switchTable = () => restore(fake.calls, { isRestored: true });
    await expect(switchTable()).rejects.toThrow(`The table ${RESTORED} is missing`);
    await fake.calls.restore(DAMAGED, RESTORED, TIME);
    await switchTable();
    expect([fake.stack.tableInUse, fake.stopped.size]).toEqual([RESTORED, 0]);
  });

  it('refuses a time outside the recovery window, before writes are stopped', async () => {
    const fake = createAws();
    const aws = {
      ...fake.calls,
      readRecovery: async () => ({
        ...{ earliest: new Date('2026-03-05T09:00:00Z'), latest: new Date(), days: 35, isOn: true },
      }),
    };
    await expect(restore(aws)).rejects.toThrow(/from 2026-03-05T09:00:00.000Z to .* --from/);
    expect(fake.stopped.size).toBe(0);
  });

  it('waits until a new table offers recovery', async () => {
    const fake = createAws();
    let refusals = 2;
    const enableRecovery: typeof fake.calls.enableRecovery = async (...args) => {
      refusals -= 1;
      if (refusals >= 0) {
        throw Object.assign(new Error(), { name: 'ContinuousBackupsUnavailableException' });
      }
      await fake.calls.enableRecovery(...args);
    };
    await restore({ ...fake.calls, enableRecovery });
    expectRestored(fake);
  });

  it('allows no writes while any function still writes to the damaged table', async () => {
    const fake = createAws();
    const readFunctionTable = async (name: string) => (name === 'delete' ? DAMAGED : RESTORED);
    await expect(restore({ ...fake.calls, readFunctionTable })).rejects.toThrow(
      `Writes stay stopped: requests to delete still reach a version that writes to ${DAMAGED}, while the stack uses ${RESTORED}.`,
    );
    expect(fake.stopped.size).toBe(2);
    await restore(fake.calls);
    expectRestored(fake);
  });

  it('fails if the switch fails, and says where to find the cause', async () => {
    const fake = createAws();
    const aws = {
      ...fake.calls,
      useTable: async () => undefined,
    };
    await expect(restore(aws)).rejects.toThrow(/uses finance-ledger-prod\. "aws cloudformation/);
    expect(fake.stopped.size).toBe(2);
    const broken = { tableInUse: RESTORED, status: 'UPDATE_ROLLBACK_FAILED', busyFor: 0 };
    await expect(restore({ ...aws, readStack: async () => broken })).rejects.toThrow(
      /is UPDATE_ROLLBACK_FAILED and uses/,
    );
    expect(fake.stopped.size).toBe(2);
  });
});

it('functions that do not write ledgers keep running', () => {
  const role = (PolicyName: string, ...Action: string[]) => ({
    Type: 'AWS::IAM::Role',
    Properties: { Policies: [{ PolicyName, PolicyDocument: { Statement: [{ Action }] } }] },
  });
  const lambda = (FunctionName: string, name: string) => ({
    Type: 'AWS::Lambda::Function',
    Properties: { FunctionName, Role: { 'Fn::GetAtt': [name, 'Arn'] } },
  });
  const Resources = {
    ReaderRole: role('ledger-table', 'dynamodb:GetItem'),
    WriterRole: role('ledger-table', 'dynamodb:GetItem', 'dynamodb:DeleteItem'),
    KeyRole: role('api-keys', 'dynamodb:UpdateItem'),
    Reader: lambda('reader', 'ReaderRole'),
    Writer: lambda('writer', 'WriterRole'),
    Key: lambda('key', 'KeyRole'),
  };
  expect(findWriters({ Resources })).toEqual(['writer']);
});
