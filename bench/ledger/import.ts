// Time that the importer takes to read a bank's file and to plan its import, against the importer of an earlier commit.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkOut, PROJECT, placeIn } from '../editions.ts';
import { atMost, type Report, round } from '../report.ts';
import type { BenchRun } from './bench-run.ts';
import { race, type Timed, timed } from './race.ts';
import { previousRelease } from './releases.ts';

const ROWS = { full: 20_000, quick: 2_000 };
const ROUNDS = 9;
/** Highest accepted ratio of the present importer to the earlier one. */
const MAX_RATIO = 1;

/** The part of rows and plans that both editions have. */
interface Importer {
  readonly readRows: (file: string) => Promise<readonly object[]>;
  readonly plan: (rows: readonly object[], ledger: readonly object[]) => unknown;
}

interface Step {
  readonly name: string;
  readonly run: (importer: Importer) => Promise<unknown>;
}

export async function importing(run: BenchRun): Promise<Report> {
  const file = writeFile(run.quick ? ROWS.quick : ROWS.full);
  const against = run.against === 'release' ? await previousRelease() : run.against;
  const importers = [await loadImporter(PROJECT)];
  if (against) {
    const folder = join(await run.running.temporaryFolder('ledger-bench-'), 'source');
    await checkOut(against, folder);
    importers.push(await loadImporter(folder));
  }
  const steps = listSteps(file);
  run.progress.start('importing', ROUNDS * steps.length);
  const measured: { readonly name: string; readonly now: number; readonly then: number }[] = [];
  for (const { name, run: take } of steps) {
    const contenders = importers.map((importer): Timed => timed(() => take(importer)));
    const [now = Number.NaN, then = Number.NaN] = await race(contenders, ROUNDS, run.progress.step);
    measured.push({ name, now, then });
  }
  return {
    bars: against
      ? measured.map(({ name, now, then }) =>
          atMost(`${name}, against ${against}`, now / then, MAX_RATIO, 'x'),
        )
      : [],
    tables: [
      {
        title: `Medians of ${ROUNDS} imports of ${file.split('\n').length - 1} rows, in turns:`,
        columns: ['step', 'ms', ...(against ? [`at ${against}, ms`, 'now against then'] : [])],
        rows: measured.map(({ name, now, then }) => [
          name,
          now,
          ...(against ? [then, `${round(now / then)}x`] : []),
        ]),
      },
    ],
  };
}

function listSteps(file: string): readonly Step[] {
  const toLedger = (rows: readonly object[]) =>
    rows.map((row, n) => ({ ...row, ...RECORD, id: String(n + 1) }));
  return [
    {
      name: 'into an empty ledger',
      run: async ({ readRows, plan }) => plan(await readRows(file), []),
    },
    {
      name: 'the same file again',
      run: async ({ readRows, plan }) => {
        const rows = await readRows(file);
        return plan(rows, toLedger(rows));
      },
    },
  ];
}

const RECORD = {
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  etag: '',
  importId: 'bench',
};

/** Rows of some years, as a bank writes them. */
function writeFile(rows: number): string {
  const lines = Array.from({ length: rows }, (_, n) => {
    const date = new Date(Date.UTC(2020, 0, 1 + Math.floor(n / 10))).toISOString().slice(0, 10);
    const cents = (((n * 7_919) % 90_000) + 100) / 100;
    const amount = n % 20 === 0 ? cents * 20 : -cents;
    return `${date},"Shop ${n % 300}, Main Street",card ${n},${amount.toFixed(2)}`;
  });
  return ['date,description,memo,amount', ...lines].join('\n');
}

/** The importer was once part of the command, and read a text instead of bytes. */
async function loadImporter(root: string): Promise<Importer> {
  const load = async (name: string) =>
    await import(
      pathToFileURL(placeIn(root, `lib/ledger/import/${name}`, `cli/import/${name}`)).href
    );
  const { readStatement } = await load('statement.ts');
  const { planImport } = await load('plan.ts');
  const isFormer =
    root !== PROJECT && placeIn(root, 'lib/ledger/import', 'cli/import').endsWith('cli/import');
  return {
    readRows: async (file) =>
      (await readStatement(isFormer ? file : new TextEncoder().encode(file))).rows,
    plan: (rows, ledger) => planImport(rows, ledger),
  };
}
