// Measures how many writes per second one ledger accepts if all of them change the counts of the same year, and how many are
// refused at higher rates. The measurement runs in virtual time. A database transaction locks its items for an assumed time. All
// other calls take no time.
import { createSeededRandom } from '../../cli/seeded-random.ts';
import { createLedgerService, type Ledger } from '../../lib/ledger/ledger.ts';
import { createVerification } from '../../lib/ledger/store/verification/verification.ts';
import { isContention } from '../../lib/shared/retryable-errors.ts';
import { atLeast, type Report } from '../report.ts';
import { median } from '../statistics.ts';
import { type BenchLedger, createHousehold, openBenchLedger, PURCHASE } from './bench-ledger.ts';
import type { BenchRun } from './bench-run.ts';
import { createContendedClient } from './contended-client.ts';
import { createVirtualRetryPolicy, createVirtualTime } from './virtual-time.ts';

const RATES = [20, 30, 40, 50, 60];
/** Assumed time for which a database transaction of eight items locks them on DynamoDB. AWS publishes no figure. */
const LOCK_MS = 20;
const MIN_CREATES = 30;
const ROWS = 1_000;

/** Writes once. Each call has another amount, so that every update changes something. */
type Write = (ledger: Ledger, n: number, amount: number) => Promise<unknown>;

const WRITES: Readonly<Record<string, Write>> = {
  create: ({ transactions }) => transactions.create(PURCHASE),
  'update of the amount': async ({ transactions }, n, amount) =>
    await transactions.update(await transactions.find(String(n + 1)), { amount }),
};

interface Outcome {
  readonly arrived: number;
  readonly applied: number;
  readonly milliseconds: number;
  readonly longest: number;
}

export async function measureContention(run: BenchRun): Promise<Report> {
  const seconds = run.quick ? 5 : 10;
  const bench = await openBenchLedger(run, createHousehold(ROWS, 1), ROWS);
  const rows: (string | number)[][] = [];
  let maxRate = 0;
  run.progress.start('writing at a rate', Object.keys(WRITES).length * RATES.length);
  for (const [name, write] of Object.entries(WRITES)) {
    for (const rate of RATES) {
      const outcome = await writeAtRate(rate, { bench, write, seconds });
      const { arrived, applied, milliseconds, longest } = outcome;
      rows.push([name, rate, applied / seconds, arrived - applied, milliseconds, longest]);
      if (name === 'create' && applied === arrived) maxRate = Math.max(maxRate, rate);
      run.progress.step();
    }
  }
  await assertConsistent(bench);
  return {
    bars: [
      atLeast(
        'creates per second in one ledger and one year, all applied',
        maxRate,
        MIN_CREATES,
        '',
      ),
    ],
    tables: [
      {
        title: `Writes that arrive at random for ${seconds} s, in virtual time, where a transaction locks its items for ${LOCK_MS} ms. A refused write returns 500 with Retry-After, and none of it is applied: the ledger was verified afterwards.`,
        columns: [
          'write',
          'per second on average',
          'applied per second',
          'refused',
          'median ms',
          'longest ms',
        ],
        rows,
      },
    ],
  };
}

async function writeAtRate(
  rate: number,
  options: { bench: BenchLedger; write: Write; seconds: number },
): Promise<Outcome> {
  const { bench, write, seconds } = options;
  const { tableName, ledgerId } = bench.address;
  const time = createVirtualTime();
  const client = createContendedClient(time.watch(bench.client), { time, lockedMs: LOCK_MS });
  const durations: number[] = [];
  const arrivals = drawArrivals(rate, seconds);

  async function sendRequest(arrival: number, n: number): Promise<void> {
    await time.sleep(arrival);
    const retryPolicy = createVirtualRetryPolicy(time, createSeededRandom(n).next);
    const { timeoutSignal } = time;
    const service = createLedgerService({
      client,
      tableName,
      ledgerId,
      timeZone: 'UTC',
      retryPolicy,
      timeoutSignal,
    });
    const started = service.startRequest(`bench-${n}`, () => undefined);
    const startedAt = time.now();
    try {
      await write(service.openLedger({ ...started, ledger: ledgerId }), n, 10_000 + n + rate / 100);
      durations.push(time.now() - startedAt);
    } catch (error) {
      if (!isContention(error)) throw error;
    }
  }

  await time.run(Promise.all(arrivals.map(sendRequest)));
  return {
    arrived: arrivals.length,
    applied: durations.length,
    milliseconds: median(durations),
    longest: Math.max(...durations),
  };
}

/** Draws the arrival times of independent clients, in milliseconds from the start. */
function drawArrivals(rate: number, seconds: number): number[] {
  const random = createSeededRandom(rate).next;
  const arrivals: number[] = [];
  for (let time = 0; time < seconds * 1_000; time += (-Math.log(1 - random()) * 1_000) / rate)
    arrivals.push(time);
  return arrivals;
}

/** Verifies the ledger. @throws Error if a refused write changed the table */
async function assertConsistent({ client, address }: BenchLedger): Promise<void> {
  const { tableName, ledgerId } = address;
  const { drifts } = await createVerification({ client, tableName, ledgerId }).verify();
  if (drifts.length > 0) throw new Error(`The ledger has ${drifts.length} drifts`);
}
