// Measures how long the importer takes to read a bank's file and to plan the import, and how long the command takes for a whole
// import with its requests. Compares both with the importer of an earlier commit.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { atMost, formatNumber, type Report } from '../report.ts';
import { checkOut, findFile, PROJECT } from '../versions.ts';
import type { BenchRun } from './bench-run.ts';
import { startService } from './local-service.ts';
import { type Contender, createContender, race } from './race.ts';
import { findPreviousRelease } from './releases.ts';

const ROWS = { full: 20_000, quick: 2_000 };
const ROUNDS = 9;
/** Fewer rounds than for a plan, because a whole import takes a thousand times as long as a plan. */
const COMMAND_ROUNDS = 3;
/** Highest accepted ratio of the current importer to the earlier one. */
const MAX_RATIO = 1;

/** The functions of the importer that the current version and the earlier one have. */
interface Importer {
  readonly readRows: (csv: string) => Promise<readonly object[]>;
  readonly plan: (rows: readonly object[], ledger: readonly object[]) => unknown;
}

interface Step {
  readonly name: string;
  readonly run: (importer: Importer) => Promise<unknown>;
}

export async function measureImport(run: BenchRun): Promise<Report> {
  const csv = createBankCsv(run.quick ? ROWS.quick : ROWS.full);
  const against = run.against === 'release' ? await findPreviousRelease() : run.against;
  const roots = [PROJECT];
  const folder = await run.resources.createTemporaryFolder('ledger-bench-');
  if (against) {
    const source = join(folder, 'source');
    await checkOut(against, source);
    roots.push(source);
  }
  const importers = (await Promise.all(roots.map(loadImporter))).flatMap((each) => each ?? []);
  const steps = listSteps(csv);
  run.progress.start('importing', ROUNDS * steps.length + COMMAND_ROUNDS);
  const measured: { readonly name: string; readonly now: number; readonly then: number }[] = [];
  for (const { name, run: runStep } of steps) {
    const contenders = importers.map(
      (importer): Contender => createContender(() => runStep(importer)),
    );
    const [now = Number.NaN, then = Number.NaN] = await race(contenders, ROUNDS, run.progress.step);
    measured.push({ name, now, then });
  }
  const csvFile = join(folder, 'bank.csv');
  await writeFile(csvFile, csv);
  const commands = roots.map((root) => async () => await timeCommand(run, root, csvFile));
  const [now = Number.NaN, then = Number.NaN] = await race(
    commands,
    COMMAND_ROUNDS,
    run.progress.step,
  );
  measured.push({ name: 'the whole import by the command', now, then });
  return {
    bars: against
      ? measured.flatMap(({ name, now, then }) =>
          Number.isNaN(then)
            ? []
            : atMost(`${name}, against ${against}`, now / then, MAX_RATIO, 'x'),
        )
      : [],
    tables: [
      {
        title: `Medians of ${ROUNDS} readings and ${COMMAND_ROUNDS} whole imports of ${csv.split('\n').length - 1} rows, in turns:`,
        columns: ['step', 'ms', ...(against ? [`at ${against}, ms`, 'now against then'] : [])],
        rows: measured.map(({ name, now, then }) => [
          name,
          now,
          ...(against ? describeEarlier(now, then) : []),
        ]),
      },
    ],
  };
}

/** Describes the earlier figure. A version that made no plans, and sent all rows, has none. */
function describeEarlier(now: number, then: number): readonly (string | number)[] {
  return Number.isNaN(then) ? ['-', '-'] : [then, `${formatNumber(now / then)}x`];
}

function listSteps(csv: string): readonly Step[] {
  const toLedger = (rows: readonly object[]) =>
    rows.map((row, n) => ({ ...row, ...RECORDED_FIELDS, id: String(n + 1) }));
  return [
    {
      name: 'into an empty ledger',
      run: async ({ readRows, plan }) => plan(await readRows(csv), []),
    },
    {
      name: 'the same file again',
      run: async ({ readRows, plan }) => {
        const rows = await readRows(csv);
        return plan(rows, toLedger(rows));
      },
    },
  ];
}

const RECORDED_FIELDS = {
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  etag: '',
  importId: 'bench',
};

/** Measures the milliseconds of the command with an empty ledger. The start of the service does not count. */
async function timeCommand({ resources }: BenchRun, root: string, file: string): Promise<number> {
  const { url, stop } = await startService(resources);
  const program = findFile(
    root,
    ...['cli/ledger/import/import.ts', 'cli/import/import.ts', 'local/import.ts'],
  );
  const environment = { ...process.env, XDG_CONFIG_HOME: join(file, '..') };
  const started = performance.now();
  await promisify(execFile)(process.execPath, [program, '--url', url, file, '--yes'], {
    env: environment,
    maxBuffer: 64 * 1024 * 1024,
  });
  const duration = performance.now() - started;
  await stop();
  return duration;
}

/** Creates the text of a bank's CSV file, with ten rows for each day. */
function createBankCsv(rows: number): string {
  const lines = Array.from({ length: rows }, (_, n) => {
    const date = new Date(Date.UTC(2020, 0, 1 + Math.floor(n / 10))).toISOString().slice(0, 10);
    const cents = (((n * 7_919) % 90_000) + 100) / 100;
    const amount = n % 20 === 0 ? cents * 20 : -cents;
    return `${date},"Shop ${n % 300}, Main Street",card ${n},${amount.toFixed(2)}`;
  });
  return ['date,description,memo,amount', ...lines].join('\n');
}

/**
 * Loads the importer of a version; undefined if the version made no plans. Earlier importers were part of the command, and read
 * text instead of bytes.
 */
async function loadImporter(root: string): Promise<Importer | undefined> {
  if (existsSync(join(root, 'local/import'))) return undefined;
  const load = async (name: string) =>
    await import(
      pathToFileURL(findFile(root, `lib/ledger/import/${name}`, `cli/import/${name}`)).href
    );
  const { readStatement } = await load('statement.ts');
  const { planImport } = await load('plan.ts');
  const isEarlierForm =
    root !== PROJECT && findFile(root, 'lib/ledger/import', 'cli/import').endsWith('cli/import');
  return {
    readRows: async (csv) =>
      (await readStatement(isEarlierForm ? csv : new TextEncoder().encode(csv))).rows,
    plan: (rows, ledger) => planImport(rows, ledger),
  };
}
