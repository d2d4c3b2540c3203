// Measures the bundle size of each function, and how long a new process takes to load the bundle. Compares the time with that of
// an empty function, and with that of the same function at an earlier commit.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { atMost, formatNumber, type Report, type Table } from '../report.ts';
import { median } from '../statistics.ts';
import type { BenchRun } from './bench-run.ts';
import { type Bundle, bundleEmpty, bundleFunctions, bundleFunctionsAt } from './bundles.ts';
import { race } from './race.ts';
import { findPreviousRelease } from './releases.ts';

const STARTS = 21;
const MAX_BUNDLE_KB = 320;
const MAX_START_RATIO = 3.6;
/** Highest accepted ratio of a function's time to that of the same function at the earlier commit. */
const MAX_RATIO_TO_EARLIER = 1.1;
const BYTES_PER_KB = 1024;

// The settings of a deployed function that affect its start.
const ENVIRONMENT = {
  PATH: process.env.PATH,
  NODE_OPTIONS: '--enable-source-maps',
  AWS_REGION: 'eu-west-1',
  TABLE_NAME: 'ledger',
};

interface MeasuredBundle extends Bundle {
  readonly milliseconds: number;
  readonly processorMs: number;
}

export async function measureColdStart(run: BenchRun): Promise<Report> {
  const against = run.against === 'release' ? await findPreviousRelease() : run.against;
  const createFolder = () => run.resources.createTemporaryFolder('ledger-bench-');
  const currentBundles = await bundleFunctions(await createFolder());
  const earlierBundles = against ? await bundleFunctionsAt(against, await createFolder()) : [];
  const empty = await bundleEmpty(await createFolder());
  run.progress.start('starting fresh processes', STARTS);
  const [baseline, ...started] = await startInTurns(
    [empty, ...currentBundles, ...earlierBundles],
    run.progress.step,
  );
  if (!baseline) throw new Error('Nothing was started');
  const currentFunctions = started.slice(0, currentBundles.length);
  const earlierByName = new Map(
    started.slice(currentBundles.length).map((bundle) => [bundle.name, bundle]),
  );
  const findMax = (figure: (bundle: MeasuredBundle) => number) =>
    Math.max(...currentFunctions.map(figure));
  return {
    bars: [
      atMost('largest bundle', findMax(toKilobytes), MAX_BUNDLE_KB, ' KB'),
      atMost(
        'start and import against an empty function, time',
        findMax(({ milliseconds }) => milliseconds / baseline.milliseconds),
        MAX_START_RATIO,
        'x',
      ),
      atMost(
        'the same, processor time',
        findMax(({ processorMs }) => processorMs / baseline.processorMs),
        MAX_START_RATIO,
        'x',
      ),
      ...(against
        ? [
            atMost(
              `the same, against ${against}`,
              findMax(
                ({ name, processorMs }) =>
                  processorMs / (earlierByName.get(name)?.processorMs ?? processorMs),
              ),
              MAX_RATIO_TO_EARLIER,
              'x',
            ),
          ]
        : []),
    ],
    tables: [
      {
        title: `Medians of ${STARTS} fresh processes each, taking turns:`,
        columns: [
          'function',
          'bundle KB',
          'start and import, ms',
          'against an empty function',
          'processor time, ms',
          'against an empty function',
        ],
        rows: [...currentFunctions, baseline].map((bundle) => [
          bundle.name,
          toKilobytes(bundle),
          bundle.milliseconds,
          bundle.milliseconds / baseline.milliseconds,
          bundle.processorMs,
          bundle.processorMs / baseline.processorMs,
        ]),
      },
      ...(against ? [createComparison(against, currentFunctions, earlierByName)] : []),
    ],
  };
}

function createComparison(
  commit: string,
  functions: readonly MeasuredBundle[],
  earlierByName: ReadonlyMap<string, MeasuredBundle>,
): Table {
  return {
    title: `The same functions at ${commit}, measured in the same turns:`,
    columns: [
      'function',
      'bundle KB then',
      'now',
      'start and import, now against then',
      'processor time, now against then',
    ],
    rows: functions.flatMap((now) => {
      const then = earlierByName.get(now.name);
      if (!then) return [];
      const time = `${formatNumber(now.milliseconds / then.milliseconds)}x`;
      const processor = `${formatNumber(now.processorMs / then.processorMs)}x`;
      return [[now.name, toKilobytes(then), toKilobytes(now), time, processor]];
    }),
  };
}

async function startInTurns(
  bundles: readonly Bundle[],
  onRound: () => void,
): Promise<MeasuredBundle[]> {
  const starters = bundles.map(createStarter);
  const runs = starters.map(({ start }) => start);
  const times = await race(runs, STARTS, onRound);
  return starters.map(({ bundle, processorTimes }, index) => ({
    ...bundle,
    milliseconds: times[index] ?? Number.NaN,
    processorMs: median(processorTimes),
  }));
}

function toKilobytes({ bytes }: Bundle): number {
  return bytes / BYTES_PER_KB;
}

/** Creates a function that starts a new process. The process measures the time from its own start until the bundle is loaded. */
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
