// Measures the page with twenty thousand transactions in Chromium: the requests and script time of each view, and the time from
// a key press to the next frame on a processor slowed four times. Both times depend on the machine as much as on the page. For
// comparison, a fixed loop and a page of one field are measured as well.
//
// The bar of the script time applies both to elapsed time and to processor time. The service and its database use the same cores
// as the page, so scripts sometimes wait for a core. Linux counts how long a thread has waited. The elapsed time is measured
// once more while the page has its own core.
import { UserError } from '../../lib/shared/user-error.ts';
import { launchChromium, whyChromiumUnavailable } from '../../processes/chromium.ts';
import { atMost, type Report } from '../report.ts';
import type { BenchRun } from './bench-run.ts';
import { startService } from './local-service.ts';
import {
  FIELDS,
  MIN_REPORTED_MS,
  measureBareField,
  measureKeys,
  PRESSES,
  SLOWDOWN,
} from './page-keys.ts';
import { LOADS, measureViews, VIEWS } from './page-views.ts';

const TRANSACTIONS = { full: 20_000, quick: 2_000 };
const CATEGORIES = 20;
const BULK_SIZE = 100;
const MAX_REQUESTS = 5;
const MAX_SCRIPT_MS = 150;
const MAX_FRAME_MS = 50;

export async function measurePage(run: BenchRun): Promise<Report> {
  // The browser that users have, not the shell in which the tests run.
  process.env.CHROMIUM_BIN ||= 'chromium';
  const reason = whyChromiumUnavailable();
  if (reason) return { bars: [], tables: [], skipped: `${reason} on this machine.` };
  const { url } = await startService(run.resources);
  const transactions = run.quick ? TRANSACTIONS.quick : TRANSACTIONS.full;
  run.progress.start('writing transactions', transactions / BULK_SIZE);
  await fillLedger(url, transactions, run.progress.step);
  const browser = await launchChromium();
  run.resources.onStop(() => browser.close());
  run.progress.start('loading views and pressing keys', VIEWS.length * LOADS + FIELDS.length);
  const { views, loop } = await measureViews(browser, url, run.progress.step);
  const fields = await measureKeys(browser, url, run.progress.step);
  const bareField = await measureBareField(browser);
  run.progress.done();
  const alone = views.flatMap((view) => view.alone ?? []);
  const findMax = (values: readonly number[]) => Math.max(...values);
  return {
    bars: [
      atMost(
        'requests of a view',
        findMax(views.map(({ requests }) => requests)),
        MAX_REQUESTS,
        '',
      ),
      atMost(
        'script of a view, elapsed time',
        findMax(views.map(({ script }) => script.elapsed)),
        MAX_SCRIPT_MS,
        ' ms',
      ),
      atMost(
        'the same, processor time',
        findMax(views.map(({ script }) => script.processor)),
        MAX_SCRIPT_MS,
        ' ms',
      ),
      ...(alone.length > 0
        ? [
            atMost(
              'the same, elapsed time on its own core',
              findMax(alone.map(({ script }) => script.elapsed)),
              MAX_SCRIPT_MS,
              ' ms',
            ),
          ]
        : []),
      atMost(
        `a key press until the next frame, processor slowed ${SLOWDOWN} times`,
        findMax(fields.map(({ slowest }) => slowest)),
        MAX_FRAME_MS,
        ' ms',
      ),
    ],
    tables: [
      {
        title: `${transactions.toLocaleString('en')} transactions; medians of ${LOADS} loads, on the thread that runs the script. During a whole load, that thread used a processor for as long as “ran”, and was ready to run without getting one for as long as “waited”. The last columns are from loads in turns with these, in which the page had a core without the other programs of the bench:`,
        columns: [
          ...['view', 'requests', 'script, processor time, ms', 'script, elapsed, ms'],
          ...['ran, ms', 'waited, ms'],
          ...['own core: elapsed, ms', 'own core: waited, ms'],
        ],
        rows: [
          ...views,
          { name: 'for comparison: a loop of ten million steps', requests: 0, ...loop },
        ].map(({ name, requests, script, thread, alone }) => [
          ...[name, requests, script.processor, script.elapsed],
          ...(thread ? [thread.ran, thread.waited] : ['', '']),
          ...[alone?.script.elapsed ?? '', alone?.thread?.waited ?? ''],
        ]),
      },
      {
        title: `${PRESSES} key presses in each field; the browser measures in steps of 8 ms, and nothing below ${MIN_REPORTED_MS}:`,
        columns: ['field', 'median, ms', 'slowest, ms'],
        rows: [...fields, bareField].map(({ name, median, slowest }) => [name, median, slowest]),
      },
    ],
  };
}

/** Writes ten years of rows in twenty categories. Every fiftieth row has no category. */
async function fillLedger(url: string, count: number, onBulk: () => void): Promise<void> {
  const post = async (path: string, body: object) => {
    const response = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new UserError(`POST ${path} failed with ${response.status}`);
    return (await response.json()) as { readonly data: { readonly id: number } };
  };
  const ids: number[] = [];
  for (let n = 1; n <= CATEGORIES; n += 1)
    ids.push((await post('/categories', { name: `Category ${n}` })).data.id);
  const thisYear = new Date().getFullYear();
  const row = (n: number) => ({
    description: `Row ${n}`,
    amount: (n % 900) + 0.25,
    type: n % 3 === 0 ? 'income' : 'expense',
    category_id: n % 50 === 0 ? null : ids[n % ids.length],
    transaction_date: new Date(Date.UTC(thisYear - (n % 10), n % 12, 1 + (n % 28)))
      .toISOString()
      .slice(0, 10),
  });
  for (let first = 0; first < count; first += BULK_SIZE) {
    const transactions = Array.from({ length: BULK_SIZE }, (_, n) => row(first + n));
    await post('/transactions/bulk', { transactions });
    onBulk();
  }
}
