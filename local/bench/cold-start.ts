// What a function weighs, and how long a fresh process takes until it could serve, against one that does nothing.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { BenchRun } from './bench-run.ts';
import { type Bundle, bundleAll } from './bundles.ts';
import { race } from './race.ts';
import { atMost, type Report } from './report.ts';
import { median } from './statistics.ts';

const FRESH_PROCESSES = 21;
const LARGEST_BUNDLE_KB = 256;
const SLOWEST_START = 3.6;
const BYTES_PER_KB = 1024;

// As deployed, as far as it affects the start.
const ENVIRONMENT = {
  PATH: process.env.PATH,
  NODE_OPTIONS: '--enable-source-maps',
  AWS_REGION: 'eu-west-1',
  TABLE_NAME: 'ledger',
};

export async function coldStart(run: BenchRun): Promise<Report> {
  const { functions, empty } = await bundleAll(await run.temporaryFolder());
  run.progress.start('starting fresh processes', FRESH_PROCESSES);
  const starters = [empty, ...functions].map(createStarter);
  const runs = starters.map(({ start }) => start);
  const times = await race(runs, FRESH_PROCESSES, run.progress.step);
  const [floor, ...started] = starters.map(({ bundle, processorTimes }, index) => ({
    ...bundle,
    milliseconds: times[index] ?? Number.NaN,
    processor: median(processorTimes),
  }));
  if (!floor) throw new Error('Nothing was started');
  const largest = Math.max(...started.map(kilobytes));
  const slowest = Math.max(...started.map((each) => each.milliseconds / floor.milliseconds));
  const busiest = Math.max(...started.map((each) => each.processor / floor.processor));
  return {
    bars: [
      atMost('largest bundle', largest, LARGEST_BUNDLE_KB, ' KB'),
      atMost('start and import against an empty function, time', slowest, SLOWEST_START, 'x'),
      atMost('the same, processor time', busiest, SLOWEST_START, 'x'),
    ],
    tables: [
      {
        title: `Medians of ${FRESH_PROCESSES} fresh processes each, in turns:`,
        columns: [
          'function',
          'bundle KB',
          'start and import, ms',
          'against an empty function',
          'processor time, ms',
          'against an empty function',
        ],
        rows: [...started, floor].map((each) => [
          each.name,
          kilobytes(each),
          each.milliseconds,
          each.milliseconds / floor.milliseconds,
          each.processor,
          each.processor / floor.processor,
        ]),
      },
    ],
  };
}

function kilobytes({ bytes }: Bundle): number {
  return bytes / BYTES_PER_KB;
}

/** Times fresh processes, from their start until the module is there, as they themselves see it. */
function createStarter(bundle: Bundle) {
  const processorTimes: number[] = [];
  const script = `import(${JSON.stringify(bundle.file)}).then(() => {
    const { user, system } = process.cpuUsage();
    console.log(performance.now(), (user + system) / 1_000);
  })`;

  async function start(): Promise<number> {
    const options = { env: ENVIRONMENT };
    const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script], options);
    const [milliseconds = Number.NaN, processor = Number.NaN] = stdout.split(' ').map(Number);
    processorTimes.push(processor);
    return milliseconds;
  }

  return { bundle, start, processorTimes };
}
