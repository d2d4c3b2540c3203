// Measures the page with twenty thousand transactions in Chromium: the requests and script time of each view, and the time from
// a key press to the next frame on a processor slowed four times. Both times depend on the machine as much as on the page, so a
// fixed loop and a page of one field are measured beside them.
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
const BULK = 100;
const LOADS = 5;
const PRESSES = 10;
const SLOWED = 4;
/** Number of frames to wait for, because the browser reports a key press some time after it has drawn the result. */
const REPORTING_FRAMES = 4;
const DRAWN = '#ledger[aria-busy=false] .entry';
const POLL_MS = 20;
const MAX_POLLS = 1_500;
const AFTER_VIEW_MS = 300;
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

export async function page(run: BenchRun): Promise<Report> {
  const obstacle = whyNoChromium();
  if (obstacle) return { bars: [], tables: [], skipped: `${obstacle} on this machine.` };
  const { url } = await startService(run.running);
  const transactions = run.quick ? TRANSACTIONS.quick : TRANSACTIONS.full;
  run.progress.start('writing transactions', transactions / BULK);
  await fillLedger(url, transactions, run.progress.step);
  const browser = await launchChromium();
  run.running.whenStopping(() => browser.close());
  run.progress.start('loading views and pressing keys', VIEWS.length * LOADS + FIELDS.length);
  const { views, loop } = await measureViews(browser, url, run.progress.step);
  const fields = await measureKeys(browser, url, run.progress.step);
  const bare = await measureBareField(browser);
  run.progress.done();
  const most = (values: readonly number[]) => Math.max(...values);
  return {
    bars: [
      atMost('requests of a view', most(views.map(({ requests }) => requests)), MAX_REQUESTS, ''),
      atMost('script of a view', most(views.map(({ script }) => script)), MAX_SCRIPT_MS, ' ms'),
      atMost(
        `a key press until the next frame, processor slowed ${SLOWED} times`,
        most(fields.map(({ slowest }) => slowest)),
        MAX_FRAME_MS,
        ' ms',
      ),
    ],
    tables: [
      {
        title: `${transactions.toLocaleString('en')} transactions; medians of ${LOADS} loads, the script with its compilation:`,
        columns: ['view', 'requests', 'script, ms'],
        rows: [
          ...views.map(({ name, requests, script }) => [name, requests, script] as const),
          ['for comparison: a loop of ten million steps', 0, loop],
        ],
      },
      {
        title: `${PRESSES} key presses in each field; the browser measures in steps of 8 ms, and nothing below ${MIN_REPORTED_MS}:`,
        columns: ['field', 'median, ms', 'slowest, ms'],
        rows: [...fields, bare].map(({ name, middle, slowest }) => [name, middle, slowest]),
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
  for (let first = 0; first < count; first += BULK) {
    const transactions = Array.from({ length: BULK }, (_, n) => row(first + n));
    await post('/transactions/bulk', { transactions });
    onBulk();
  }
}

/** Says what the machine does in the same minutes, without the page. */
const LOOP = `(() => {
  const begun = performance.now();
  let sum = 0;
  for (let n = 0; n < 10_000_000; n += 1) sum = (sum + n * 7) % 1_000_003;
  return sum < 0 ? 0 : performance.now() - begun;
})()`;

async function measureViews(browser: Browser, url: string, onLoad: () => void) {
  const measured = [];
  const empty = await browser.newPage();
  const loops: number[] = [];
  for (const [name, hash] of VIEWS) {
    const loads: { readonly requests: number; readonly script: number }[] = [];
    for (let n = 0; n < LOADS; n += 1) {
      loads.push(await loadView(browser, `${url}/${hash}`));
      loops.push((await empty.evaluate(LOOP)) as number);
      onLoad();
    }
    measured.push({
      name,
      requests: Math.max(...loads.map(({ requests }) => requests)),
      script: median(loads.map(({ script }) => script)),
    });
  }
  await empty.context().close();
  return { views: measured, loop: median(loops) };
}

async function loadView(browser: Browser, address: string) {
  const opened = await browser.newPage();
  const session = await opened.context().newCDPSession(opened);
  await session.send('Performance.enable');
  let requests = 0;
  opened.on('request', (request) => {
    if (request.resourceType() === 'fetch') requests += 1;
  });
  await opened.goto(address, { waitUntil: 'commit' });
  await waitWithoutScript(session);
  const { metrics } = await session.send('Performance.getMetrics');
  const seconds = metrics.find(({ name }) => name === 'ScriptDuration')?.value;
  if (seconds === undefined) throw new Error('The browser does not say how long scripts ran');
  await opened.context().close();
  return { requests, script: seconds * 1000 };
}

/**
 * Waits until the view is drawn, and a moment longer for later requests. Polls over the debugging protocol, because a script
 * that waited in the page would count as the page's own.
 */
async function waitWithoutScript(session: CDPSession): Promise<void> {
  for (let polls = 0; !(await holds(session, DRAWN)); polls += 1) {
    if (polls >= MAX_POLLS) throw new Error('The page did not draw its view in time');
    await setTimeout(POLL_MS);
  }
  await setTimeout(AFTER_VIEW_MS);
}

async function holds(session: CDPSession, selector: string): Promise<boolean> {
  const { root } = await session.send('DOM.getDocument', { depth: 0 });
  const query = { nodeId: root.nodeId, selector };
  // While the page begins to load, its document may be replaced between the two requests; the next poll asks again.
  const { nodeId } = await session.send('DOM.querySelector', query).catch(() => ({ nodeId: 0 }));
  return nodeId !== 0;
}

async function hasRendered(opened: Page): Promise<void> {
  await opened.waitForSelector(DRAWN);
  await nextFrame(opened);
}

/** Waits for a frame that is drawn after everything that has happened so far. */
async function nextFrame(opened: Page): Promise<void> {
  await opened.evaluate(
    'new Promise((drawn) => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(drawn))))',
  );
}

interface Field {
  readonly name: string;
  /** The key to press in the field. */
  readonly key: string;
  readonly find: (opened: Page) => Locator;
}

function listFields(
  form: string,
  find: (opened: Page) => Locator,
  keys: Readonly<Record<string, string>>,
): readonly Field[] {
  return Object.entries(keys).map(([label, key]) => ({
    name: `${form}: ${label}`,
    key,
    find: (opened) => find(opened).getByLabel(label),
  }));
}

/** Fields to measure; the search comes last, because it changes the list. */
const FIELDS: readonly Field[] = [
  ...listFields('new row', addForm, {
    Date: 'ArrowUp',
    Description: 'a',
    Amount: '1',
    Type: 'ArrowDown',
    Category: 'c',
  }),
  ...listFields('opened row', editForm, {
    Description: 'a',
    Amount: '1',
    Category: 'c',
    Notes: 'a',
  }),
  {
    name: 'category of the selected',
    key: 'c',
    find: (opened) => opened.getByLabel('Category for selected'),
  },
  { name: 'search', key: 'r', find: (opened) => opened.getByRole('searchbox') },
];

function addForm(opened: Page): Locator {
  return opened.getByRole('form', { name: 'Add transaction' });
}

function editForm(opened: Page): Locator {
  return opened.getByRole('form', { name: /^Edit/ });
}

async function measureKeys(browser: Browser, url: string, onField: () => void) {
  const opened = await browser.newPage();
  await opened.goto(`${url}/#period=all`);
  await hasRendered(opened);
  await opened.getByRole('checkbox', { name: 'Select', exact: true }).nth(1).check();
  await opened.locator('.entry').first().click();
  await editForm(opened).waitFor();
  return await pressInFields(opened, FIELDS, onField);
}

const BARE_FIELD = {
  name: 'for comparison: a page of one field',
  key: 'a',
  find: (opened: Page) => opened.getByLabel('Bare'),
};

/** Measures what a key press takes in a page that has one field, and one listener that draws nothing. */
async function measureBareField(browser: Browser): Promise<MeasuredField> {
  const opened = await browser.newPage();
  await opened.setContent(`<label>Bare <input></label><script>
    document.querySelector('input').addEventListener('input', ({ target }) => { window.typed = target.value; });
  </script>`);
  const [measured] = await pressInFields(opened, [BARE_FIELD], () => undefined);
  if (!measured) throw new Error('The field of the empty page was not measured');
  return measured;
}

interface MeasuredField {
  readonly name: string;
  readonly middle: number;
  readonly slowest: number;
}

async function pressInFields(
  opened: Page,
  fields: readonly Field[],
  onField: () => void,
): Promise<readonly MeasuredField[]> {
  const session = await opened.context().newCDPSession(opened);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWED });
  await opened.evaluate(`
    window.slow = [];
    new PerformanceObserver((list) => {
      for (const { name, duration } of list.getEntries()) if (/^key|input/.test(name)) window.slow.push(duration);
    }).observe({ type: 'event', durationThreshold: ${MIN_REPORTED_MS} });
  `);
  const measured = [];
  for (const { name, key, find } of fields) {
    await find(opened).focus();
    const presses: number[] = [];
    for (let n = 0; n < PRESSES; n += 1) presses.push(await measurePress(opened, key));
    measured.push({ name, middle: median(presses), slowest: Math.max(...presses) });
    onField();
  }
  return measured;
}

async function measurePress(opened: Page, key: string): Promise<number> {
  await nextFrame(opened);
  await opened.evaluate('window.slow.length = 0');
  await opened.keyboard.press(key);
  for (let frame = 0; frame < REPORTING_FRAMES; frame += 1) await nextFrame(opened);
  const durations = (await opened.evaluate('[...window.slow]')) as number[];
  return Math.max(MIN_REPORTED_MS, ...durations);
}
