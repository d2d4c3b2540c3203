// Measures the page with twenty thousand transactions in Chromium: the requests and script time of each view, and the time from
// a key press to the next frame on a processor slowed four times. Both times depend on the machine as much as on the page, so a
// fixed loop and a page of one field are measured beside them. The bar of the script applies to its elapsed time and to its
// processor time: the service and its database use the same cores here, and while they answer, a script waits for them. How long
// the thread waited for a processor is counted by Linux, so that this time is told from any that the script itself takes.
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { Browser, CDPSession, Locator, Page } from 'playwright-core';
import { UserError } from '../../lib/shared/user-error.ts';
import { launchChromium, whyNoChromium } from '../../processes/chromium.ts';
import { atMost, type Report } from '../report.ts';
import { median } from '../statistics.ts';
import type { BenchRun } from './bench-run.ts';
import { startService } from './local-service.ts';

const TRANSACTIONS = { full: 20_000, quick: 2_000 };
const CATEGORIES = 20;
const BULK_SIZE = 100;
const LOADS = 5;
const PRESSES = 10;
const SLOWDOWN = 4;
/** Number of frames to wait for, because the browser reports a key press some time after it has drawn the result. */
const REPORTING_FRAMES = 4;
const DRAWN_SELECTOR = '#ledger[aria-busy=false] .entry';
const POLL_MS = 20;
const MAX_POLLS = 1_500;
const SETTLING_MS = 300;
const MAX_REQUESTS = 5;
const MAX_SCRIPT_MS = 150;
const MAX_FRAME_MS = 50;
/** Shortest duration of an event that the browser reports; it measures in steps of 8 ms. */
const MIN_REPORTED_MS = 16;

const THIS_YEAR = new Date().getFullYear();
const VIEWS = [
  ['this month', ''],
  ['12 months', '#period=12m'],
  ['all dates', '#period=all'],
  ['a category', '#period=all&category=2'],
  ['a search', `#q=row&period=${THIS_YEAR}`],
] as const;

export async function measurePage(run: BenchRun): Promise<Report> {
  const reason = whyNoChromium();
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
      atMost(
        `a key press until the next frame, processor slowed ${SLOWDOWN} times`,
        findMax(fields.map(({ slowest }) => slowest)),
        MAX_FRAME_MS,
        ' ms',
      ),
    ],
    tables: [
      {
        title: `${transactions.toLocaleString('en')} transactions; medians of ${LOADS} loads, on the thread that runs the script. In all of a load, that thread used a processor for as long as “ran”, and was ready to run without getting one for as long as “waited”:`,
        columns: [
          ...['view', 'requests', 'script, processor time, ms', 'script, elapsed, ms'],
          ...['ran, ms', 'waited, ms'],
        ],
        rows: [
          ...views,
          { name: 'for comparison: a loop of ten million steps', requests: 0, ...loop },
        ].map(({ name, requests, script, thread }) => [
          ...[name, requests, script.processor, script.elapsed],
          ...(thread ? [thread.ran, thread.waited] : ['', '']),
        ]),
      },
      {
        title: `${PRESSES} key presses in each field; the browser measures in steps of 8 ms, and nothing below ${MIN_REPORTED_MS}:`,
        columns: ['field', 'median, ms', 'slowest, ms'],
        rows: [...fields, bareField].map(({ name, middle, slowest }) => [name, middle, slowest]),
      },
    ],
  };
}

/** Writes ten years of rows in twenty categories; every fiftieth row has no category. */
async function fillLedger(url: string, count: number, onBulk: () => void): Promise<void> {
  const post = async (path: string, body: object) => {
    const response = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new UserError(`POST ${path} answered ${response.status}`);
    return (await response.json()) as { readonly data: { readonly id: number } };
  };
  const ids: number[] = [];
  for (let n = 1; n <= CATEGORIES; n += 1)
    ids.push((await post('/categories', { name: `Category ${n}` })).data.id);
  const row = (n: number) => ({
    description: `Row ${n}`,
    amount: (n % 900) + 0.25,
    type: n % 3 === 0 ? 'income' : 'expense',
    category_id: n % 50 === 0 ? null : ids[n % ids.length],
    transaction_date: new Date(Date.UTC(THIS_YEAR - (n % 10), n % 12, 1 + (n % 28)))
      .toISOString()
      .slice(0, 10),
  });
  for (let first = 0; first < count; first += BULK_SIZE) {
    const transactions = Array.from({ length: BULK_SIZE }, (_, n) => row(first + n));
    await post('/transactions/bulk', { transactions });
    onBulk();
  }
}

/** Measures the speed of the machine in the same minutes, without the page. */
const LOOP_SCRIPT = `(() => {
  let sum = 0;
  for (let n = 0; n < 10_000_000; n += 1) sum = (sum + n * 7) % 1_000_003;
  window.sum = sum;
})()`;

/** Milliseconds in which scripts ran, with and without the time in which they waited for the processor. */
interface ScriptTime {
  readonly processor: number;
  readonly elapsed: number;
}

/** Milliseconds that the thread of a page has used a processor, and has been ready to run without getting one. */
interface ThreadTime {
  readonly ran: number;
  readonly waited: number;
}

/** Reads the time of the only page's thread since its process began; undefined unless this is Linux, which counts it. */
async function readThreadTime(browser: Browser): Promise<ThreadTime | undefined> {
  if (process.platform !== 'linux') return undefined;
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  // The browser keeps a process ready for the next page, which has done little.
  const [busiest] = processInfo
    .filter(({ type }) => type === 'renderer')
    .toSorted((a, b) => b.cpuTime - a.cpuTime);
  if (!busiest) throw new Error('The browser names no process of the page');
  // The thread of the page is the first of its process.
  const counted = readFileSync(`/proc/${busiest.id}/task/${busiest.id}/schedstat`, 'utf8');
  const [ran = 0, waited = 0] = counted.split(' ').map((nanoseconds) => Number(nanoseconds) / 1e6);
  return { ran, waited };
}

/** Opens an empty page whose scripts are timed by both of the browser's clocks. */
async function openTimedPage(browser: Browser) {
  const page = await browser.newPage();
  const openClock = async (timeDomain: 'threadTicks' | 'timeTicks') => {
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain });
    return session;
  };
  const [processor, elapsed] = [await openClock('threadTicks'), await openClock('timeTicks')];
  const readTime = async (): Promise<ScriptTime> => ({
    processor: await readScriptMs(processor),
    elapsed: await readScriptMs(elapsed),
  });
  return { page, session: elapsed, readTime };
}

async function readScriptMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  const seconds = metrics.find(({ name }) => name === 'ScriptDuration')?.value;
  if (seconds === undefined) throw new Error('The browser does not say how long scripts ran');
  return seconds * 1000;
}

interface Load {
  readonly script: ScriptTime;
  readonly thread: ThreadTime | undefined;
}

function findMedian(loads: readonly Load[]): Load {
  const find = (read: (load: Load) => number) => median(loads.map(read));
  return {
    script: {
      processor: find(({ script }) => script.processor),
      elapsed: find(({ script }) => script.elapsed),
    },
    thread: loads.every(({ thread }) => thread)
      ? {
          ran: find(({ thread }) => thread?.ran ?? 0),
          waited: find(({ thread }) => thread?.waited ?? 0),
        }
      : undefined,
  };
}

async function measureViews(browser: Browser, url: string, onLoad: () => void) {
  const measured = [];
  const loops: Load[] = [];
  for (const [name, hash] of VIEWS) {
    const loads: (Load & { readonly requests: number })[] = [];
    for (let n = 0; n < LOADS; n += 1) {
      loads.push(await loadView(browser, `${url}/${hash}`));
      loops.push(await runLoop(browser));
      onLoad();
    }
    measured.push({
      name,
      requests: Math.max(...loads.map(({ requests }) => requests)),
      ...findMedian(loads),
    });
  }
  return { views: measured, loop: findMedian(loops) };
}

async function runLoop(browser: Browser): Promise<Load> {
  const { page, readTime } = await openTimedPage(browser);
  await page.goto(`data:text/html,<script>${encodeURIComponent(LOOP_SCRIPT)}</script>`);
  const [script, thread] = [await readTime(), await readThreadTime(browser)];
  await page.context().close();
  return { script, thread };
}

async function loadView(browser: Browser, address: string) {
  const { page, session, readTime } = await openTimedPage(browser);
  let requests = 0;
  page.on('request', (request) => {
    if (request.resourceType() === 'fetch') requests += 1;
  });
  await page.goto(address, { waitUntil: 'commit' });
  await waitWithoutScript(session);
  const [script, thread] = [await readTime(), await readThreadTime(browser)];
  await page.context().close();
  return { requests, script, thread };
}

/**
 * Waits until the view is drawn, and a moment longer for later requests. Polls over the debugging protocol, because a script
 * that waited in the page would count as the page's own.
 */
async function waitWithoutScript(session: CDPSession): Promise<void> {
  for (let polls = 0; !(await matchesSelector(session, DRAWN_SELECTOR)); polls += 1) {
    if (polls >= MAX_POLLS) throw new Error('The page did not draw its view in time');
    await setTimeout(POLL_MS);
  }
  await setTimeout(SETTLING_MS);
}

async function matchesSelector(session: CDPSession, selector: string): Promise<boolean> {
  const { root } = await session.send('DOM.getDocument', { depth: 0 });
  const query = { nodeId: root.nodeId, selector };
  // While the page begins to load, its document may be replaced between the two requests; the next poll asks again.
  const { nodeId } = await session.send('DOM.querySelector', query).catch(() => ({ nodeId: 0 }));
  return nodeId !== 0;
}

async function waitUntilRendered(page: Page): Promise<void> {
  await page.waitForSelector(DRAWN_SELECTOR);
  await waitForNextFrame(page);
}

/** Waits for a frame that is drawn after everything that has happened so far. */
async function waitForNextFrame(page: Page): Promise<void> {
  await page.evaluate(
    'new Promise((drawn) => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(drawn))))',
  );
}

interface Field {
  readonly name: string;
  /** The key to press in the field. */
  readonly key: string;
  readonly find: (page: Page) => Locator;
}

function listFields(
  form: string,
  find: (page: Page) => Locator,
  keys: Readonly<Record<string, string>>,
): readonly Field[] {
  return Object.entries(keys).map(([label, key]) => ({
    name: `${form}: ${label}`,
    key,
    find: (page) => find(page).getByLabel(label),
  }));
}

/** Fields to measure; the search comes last, because it changes the list. */
const FIELDS: readonly Field[] = [
  ...listFields('new row', locateAddForm, {
    Date: 'ArrowUp',
    Description: 'a',
    Amount: '1',
    Type: 'ArrowDown',
    Category: 'c',
  }),
  ...listFields('opened row', locateEditForm, {
    Description: 'a',
    Amount: '1',
    Category: 'c',
    Notes: 'a',
  }),
  {
    name: 'category of the selected',
    key: 'c',
    find: (page) => page.getByLabel('Category for selected'),
  },
  { name: 'search', key: 'r', find: (page) => page.getByRole('searchbox') },
];

function locateAddForm(page: Page): Locator {
  return page.getByRole('form', { name: 'Add transaction' });
}

function locateEditForm(page: Page): Locator {
  return page.getByRole('form', { name: /^Edit/ });
}

async function measureKeys(browser: Browser, url: string, onField: () => void) {
  const page = await browser.newPage();
  await page.goto(`${url}/#period=all`);
  await waitUntilRendered(page);
  await page.getByRole('checkbox', { name: 'Select', exact: true }).nth(1).check();
  await page.locator('.entry').first().click();
  await locateEditForm(page).waitFor();
  return await pressInFields(page, FIELDS, onField);
}

const BARE_FIELD = {
  name: 'for comparison: a page of one field',
  key: 'a',
  find: (page: Page) => page.getByLabel('Bare'),
};

/** Measures what a key press takes in a page that has one field, and one listener that draws nothing. */
async function measureBareField(browser: Browser): Promise<MeasuredField> {
  const page = await browser.newPage();
  await page.setContent(`<label>Bare <input></label><script>
    document.querySelector('input').addEventListener('input', ({ target }) => { window.typed = target.value; });
  </script>`);
  const [measured] = await pressInFields(page, [BARE_FIELD], () => undefined);
  if (!measured) throw new Error('The field of the empty page was not measured');
  return measured;
}

interface MeasuredField {
  readonly name: string;
  readonly middle: number;
  readonly slowest: number;
}

async function pressInFields(
  page: Page,
  fields: readonly Field[],
  onField: () => void,
): Promise<readonly MeasuredField[]> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
  await page.evaluate(`
    window.slow = [];
    new PerformanceObserver((list) => {
      for (const { name, duration } of list.getEntries()) if (/^key|input/.test(name)) window.slow.push(duration);
    }).observe({ type: 'event', durationThreshold: ${MIN_REPORTED_MS} });
  `);
  const measured = [];
  for (const { name, key, find } of fields) {
    await find(page).focus();
    const presses: number[] = [];
    for (let n = 0; n < PRESSES; n += 1) presses.push(await measurePress(page, key));
    measured.push({ name, middle: median(presses), slowest: Math.max(...presses) });
    onField();
  }
  return measured;
}

async function measurePress(page: Page, key: string): Promise<number> {
  await waitForNextFrame(page);
  await page.evaluate('window.slow.length = 0');
  await page.keyboard.press(key);
  for (let frame = 0; frame < REPORTING_FRAMES; frame += 1) await waitForNextFrame(page);
  const durations = (await page.evaluate('[...window.slow]')) as number[];
  return Math.max(MIN_REPORTED_MS, ...durations);
}
