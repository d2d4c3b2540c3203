// npm run bench [-- MEASUREMENT [OPTIONS]]: runs one measurement. Without the name of a measurement, all arguments go to the
// measurement of the ledger.
import { runInTerminal } from '../processes/run-in-terminal.ts';

const WITH_SERVICE = 'sandbox/real/with-service.ts';

/** Programs that run one after the other, each with its arguments. */
type Programs = readonly (readonly string[])[];

/** All measurements except that of the ledger, which measures requests and writes docs/ledger/performance.md. */
const MEASUREMENTS: Readonly<Record<string, Programs | undefined>> = {
  /** Measures how fast memories are copied and compared. */
  migration: [['bench/migration/bench.ts']],
  /**
   * Measures how long users cannot write during a migration on a real Qdrant: with a new collection, in place, and with an
   * earlier version of this project.
   */
  window: [['bench/migration/window.ts']],
  /** Computes the costs and limits of a stage from its packaged template, for the tables in docs/ledger/deploy.md. */
  costs: [['bench/ledger/costs/write-costs.ts']],
  /** Measures the peak memory while gigabytes pass through artifact stores and graph dumps. */
  streaming: [
    ['bench/migration/measure-streaming.ts'],
    ['bench/migration/measure-graph-dump.ts'],
    [WITH_SERVICE, 'aws', 'node', 'bench/migration/measure-streaming.ts'],
  ],
};

const LEDGER: Programs = [['bench/ledger/bench.ts']];

const args = process.argv.slice(2);
const measurement = MEASUREMENTS[args[0] ?? ''];
const options = measurement ? args.slice(1) : args;
process.exitCode = await runAll(measurement ?? LEDGER);

/** Runs the programs until one fails. @returns the exit code of that program, or 0 */
async function runAll(programs: Programs): Promise<number> {
  for (const args of programs) {
    const code = await runInTerminal([...args, ...options]);
    if (code !== 0) return code;
  }
  return 0;
}
