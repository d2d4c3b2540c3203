// npm run bench [-- MEASUREMENT [OPTIONS]]: takes one measurement. Other arguments go to the measurement of the ledger.
import { runInherited } from '../processes/inherited.ts';

const REAL = 'sandbox/real/with-service.ts';

/** One after the other, each with its arguments. */
type Programs = readonly (readonly string[])[];

/** The measurements besides that of the ledger, which writes the cost and time of requests into docs/ledger/performance.md. */
const MEASUREMENTS: Readonly<Record<string, Programs | undefined>> = {
  /** How fast memories are copied and compared. */
  migration: [['bench/migration/bench.ts']],
  /** How long users cannot write during a migration on a real Qdrant: both ways, and in an earlier edition. */
  window: [['bench/migration/window.ts']],
  /** Costs and limits of a stage, from its packaged template: the tables of docs/ledger/deploy.md. */
  costs: [['bench/ledger/costs/write-costs.ts']],
  /** The memory that it takes to pass gigabytes through artifact stores and graph dumps. */
  streaming: [
    ['bench/migration/measure-streaming.ts'],
    ['bench/migration/measure-graph-dump.ts'],
    [REAL, 'aws', 'node', 'bench/migration/measure-streaming.ts'],
  ],
};

const LEDGER: Programs = [['bench/ledger/bench.ts']];

const words = process.argv.slice(2);
const named = MEASUREMENTS[words[0] ?? ''];
const options = named ? words.slice(1) : words;
process.exitCode = await runAll(named ?? LEDGER);

/** @returns the exit code of the first that fails */
async function runAll(programs: Programs): Promise<number> {
  for (const words of programs) {
    const code = await runInherited([...words, ...options]);
    if (code !== 0) return code;
  }
  return 0;
}
