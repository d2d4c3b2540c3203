// What a function weighs, and how long a fresh process takes until it could serve, against one that does nothing.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { BenchRun } from './bench-run.ts';
import { type Bundle, bundleAll } from './bundles.ts';
import { race, type Timed } from './race.ts';
import { atMost, type Report } from './report.ts';

const FRESH_PROCESSES = 21;
const LARGEST_BUNDLE_KB = 256;
const SLOWEST_START = 3.6;
const BYTES_PER_KB = 1024;

// As deployed, as far as it bears on the start.
const ENVIRONMENT = {
  PATH: process.env.PATH,
  NODE_OPTIONS: '--enable-source-maps',
  AWS_REGION: 'eu-west-1',
  TABLE_NAME: 'ledger',
};

export async function coldStart(run: BenchRun): Promise<Report> {
  const { functions, empty } = await bundleAll(await run.temporaryFolder());
  run.progress.start('starting fresh processes', FRESH_PROCESSES);
  const starts = [empty, ...functions].map(({ file }) => start(file));
  const [floor = Number.NaN, ...times] = await race(starts, FRESH_PROCESSES, run.progress.step);
  const started = functions.map((each, index) => {
    const milliseconds = times[index] ?? Number.NaN;
    return { ...each, milliseconds, ratio: milliseconds / floor };
  });
  const largest = Math.max(...started.map(kilobytes));
  const slowest = Math.max(...started.map(({ ratio }) => ratio));
  return {
    bars: [
      atMost('largest bundle', largest, LARGEST_BUNDLE_KB, ' KB'),
      atMost('slowest start and import, against an empty function', slowest, SLOWEST_START, 'x'),
    ],
    tables: [
      {
        title: `Medians of ${FRESH_PROCESSES} fresh processes each, in turns:`,
        columns: ['function', 'bundle KB', 'start and import, ms', 'against an empty function'],
        rows: [
          ...started.map((each) => [each.name, kilobytes(each), each.milliseconds, each.ratio]),
          ['(empty)', kilobytes(empty), floor, 1],
        ],
      },
    ],
  };
}

function kilobytes({ bytes }: Bundle): number {
  return bytes / BYTES_PER_KB;
}

/** From the start of the process until the module is there, as the process itself sees it. */
function start(file: string): Timed {
  const script = `import(${JSON.stringify(file)}).then(() => console.log(performance.now()))`;
  return async () => {
    const options = { env: ENVIRONMENT };
    const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script], options);
    return Number(stdout);
  };
}
