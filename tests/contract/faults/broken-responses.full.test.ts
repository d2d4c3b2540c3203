// Database responses that break in the middle of their bodies: no 500 whose write was stored, no request over 10 s.
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  inject,
  it,
  vi,
} from 'vitest';
import { seededRandom } from '../../../cli/seed/seeded-random.ts';
import { BREAKS, type Break, type BrokenWire, openBrokenWire } from '../../support/broken-wire.ts';
import {
  contentsBefore,
  expectFailure,
  expectSameReply,
  hasFailed,
  type LedgerContents,
  OPERATIONS,
  type Operation,
  type Run,
  runOperation,
} from '../../support/operations.ts';
import { sizeOfRun } from '../../support/seed.ts';

const LONGEST_REQUEST_MS = 10_000;
const WRITES = OPERATIONS.filter(({ isRead }) => !isRead);
const CREATIONS = WRITES.filter(({ status }) => status === 201);
const SEEDS = Array.from({ length: sizeOfRun(30) }, (_, seed) => seed + 1);

let wire: BrokenWire;

beforeAll(async () => {
  wire = await openBrokenWire(inject('databaseEndpoint'));
});
afterAll(() => wire.close());

const log = vi.fn<(line: unknown) => boolean>(() => true);
beforeEach(() => void vi.spyOn(process.stderr, 'write').mockImplementation(log.mockReset()));
afterEach(() => void vi.restoreAllMocks());

async function run(
  operation: Operation,
  breakAt: (call: number, command: string) => Break | undefined = () => undefined,
): Promise<Run> {
  const broken = await runOperation(operation, (_, time) => wire.createClient(time, breakAt));
  expect(broken.tookMs).toBeLessThan(LONGEST_REQUEST_MS);
  return broken;
}

describe.each(WRITES)('$name', (operation) => {
  it.each(BREAKS)('reads its record back when all responses to its write: %s', async (how) => {
    const smooth = await run(operation);
    const broken = await run(operation, (_, command) => (isWrite(command) ? how : undefined));
    expectSameReply(broken, smooth);
    expect(broken.contents).toEqual(smooth.contents);
  });
});

describe.each([...WRITES, ...CREATIONS.map(withIdempotencyKey)])('$name', (operation) => {
  it('logs that its outcome is unknown when its record cannot be read back', async () => {
    let isWritten = false;
    const broken = await run(operation, (_, command) => {
      isWritten ||= isWrite(command);
      return isWritten ? 'stall' : undefined;
    });
    expectFailure(broken, operation);
    expect(log.mock.calls.map(([line]) => JSON.parse(String(line)).cause.name)).toEqual([
      'OutcomeUnknownError',
    ]);
  });
});

describe.each(OPERATIONS)('$name', (operation) => {
  let smooth: Run;
  let calls = 0;
  let before: LedgerContents;

  beforeAll(async () => {
    smooth = await run(operation, (call) => {
      calls = Math.max(calls, call + 1);
      return undefined;
    });
    before = await contentsBefore();
  });

  it.each(BREAKS)('gives the same reply when any two responses in a row: %s', async (how) => {
    expect([smooth.reply.status, calls > 0]).toEqual([operation.status, true]);
    for (let at = 0; at < calls; at += 1) {
      const broken = await run(operation, (call) =>
        call === at || call === at + 1 ? how : undefined,
      );
      expectSameReply(broken, smooth);
      expect(broken.contents).toEqual(smooth.contents);
    }
  });

  it('replies 500 only if it was not applied when half of all responses break', async () => {
    for (const seed of SEEDS) {
      const random = seededRandom(seed);
      const broken = await run(operation, () =>
        random.chance(0.5) ? random.pick(BREAKS) : undefined,
      );
      if (hasFailed(broken)) expect(broken.contents).toEqual(before);
      else expectSameReply(broken, smooth);
    }
  });
});

function isWrite(command: string): boolean {
  return command === 'TransactWriteCommand';
}

function withIdempotencyKey(operation: Operation): Operation {
  const headers = { 'idempotency-key': 'key-1' };
  return {
    ...operation,
    name: `${operation.name} with an Idempotency-Key`,
    ask: (api) =>
      operation.ask({
        ...api,
        post: (path, body) => api.request('POST', path, { body, headers }),
      }),
  };
}
