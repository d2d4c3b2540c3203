// npm run bench [-- MEASUREMENT [OPTIONS]]: takes one measurement. Without a name, that of the ledger.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const REAL = 'sandbox/real/with-service.ts';

/** The programs of each measurement, one after the other. */
const MEASUREMENTS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  /** What requests cost and take; writes docs/performance.md. */
  ledger: [['bench/bench.ts']],
  /** How fast memories are copied and compared. */
  migration: [['bench/migration/bench.ts']],
  /** How long users cannot write during a cutover on a real Qdrant, now and in an earlier edition. */
  window: [[REAL, 'qdrant', 'node', 'bench/migration/window.ts']],
  /** The memory that gigabytes take on their way through artifact stores and graph dumps. */
  streaming: [
    ['bench/measure-streaming.ts'],
    ['bench/measure-graph-dump.ts'],
    [REAL, 'aws', 'node', 'bench/measure-streaming.ts'],
  ],
};

const [first, ...others] = process.argv.slice(2);
const isNamed = first !== undefined && !first.startsWith('-');
const name = isNamed ? first : 'ledger';
const options = isNamed ? others : process.argv.slice(2);
const programs = MEASUREMENTS[name];
if (programs) process.exitCode = await runAll(programs);
else {
  console.error(`Unknown measurement "${name}": use ${Object.keys(MEASUREMENTS).join(', ')}.`);
  process.exitCode = 2;
}

/** @returns the exit code of the first that fails */
async function runAll(programs: readonly (readonly string[])[]): Promise<number> {
  for (const words of programs) {
    const child = spawn(process.execPath, [...words, ...options], { stdio: 'inherit' });
    // A terminal sends its signals to the child as well, which cleans up and ends by itself.
    process.on('SIGINT', () => undefined);
    process.once('SIGTERM', () => child.kill('SIGTERM'));
    const [code] = await once(child, 'exit');
    if (code !== 0) return code ?? 1;
  }
  return 0;
}
