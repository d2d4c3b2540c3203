// Measures the requests and the script time of each view of the page.
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { Browser, CDPSession } from 'playwright-core';
import { median } from '../statistics.ts';
import { type Cores, findCores } from './page-cores.ts';

export const LOADS = 5;
/** Matches once the view is drawn. */
export const DRAWN_SELECTOR = '#ledger[aria-busy=false] .entry';
const POLL_MS = 20;
const MAX_POLLS = 1_500;
const SETTLING_MS = 300;

export const VIEWS = [
  ['this month', ''],
  ['12 months', '#period=12m'],
  ['all dates', '#period=all'],
  ['a category', '#period=all&category=2'],
  ['a search', `#q=row&period=${new Date().getFullYear()}`],
] as const;

/** Measures the speed of the machine in the same minutes, without the page. */
const LOOP_SCRIPT = `(() => {
  let sum = 0;
  for (let n = 0; n < 10_000_000; n += 1) sum = (sum + n * 7) % 1_000_003;
  window.sum = sum;
})()`;

/** Milliseconds that scripts took. `elapsed` includes the time in which they waited for a processor. */
interface ScriptTime {
  readonly processor: number;
  readonly elapsed: number;
}

/** Milliseconds in which the thread of a page ran, and in which it was ready to run but waited for a processor. */
interface ThreadTime {
  readonly ran: number;
  readonly waited: number;
}

/** Reads the time of the thread of the browser's only page, since its process began; undefined except on Linux. */
async function readThreadTime(browser: Browser): Promise<ThreadTime | undefined> {
  if (process.platform !== 'linux') return undefined;
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  // The browser keeps another process ready for the next page. That process has used less time.
  const [busiest] = processInfo
    .filter(({ type }) => type === 'renderer')
    .toSorted((a, b) => b.cpuTime - a.cpuTime);
  if (!busiest) throw new Error('The browser names no process of the page');
  // The thread of the page is the first of its process.
  const schedulerTimes = readFileSync(`/proc/${busiest.id}/task/${busiest.id}/schedstat`, 'utf8');
  const [ran = 0, waited = 0] = schedulerTimes
    .split(' ')
    .map((nanoseconds) => Number(nanoseconds) / 1e6);
  return { ran, waited };
}

/** Opens an empty page. Two clocks of the browser measure the time of its scripts. */
async function openTimedPage(browser: Browser) {
  const page = await browser.newPage();
  const openClock = async (timeDomain: 'threadTicks' | 'timeTicks') => {
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain });
    return session;
  };
  const processorClock = await openClock('threadTicks');
  const elapsedClock = await openClock('timeTicks');
  const readTime = async (): Promise<ScriptTime> => ({
    processor: await readScriptMs(processorClock),
    elapsed: await readScriptMs(elapsedClock),
  });
  return { page, session: elapsedClock, readTime };
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

interface CountedLoad extends Load {
  readonly requests: number;
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

/**
 * Measures each view while the programs of the bench share all cores, and while the page has its own core, in turns.
 * @param onLoad called once for each load of a view
 */
export async function measureViews(browser: Browser, url: string, onLoad: () => void) {
  const cores = findCores();
  const measured = [];
  const loops: Turns = { shared: [], alone: [] };
  for (const [name, hash] of VIEWS) {
    const loads: Turns<CountedLoad> = { shared: [], alone: [] };
    for (let n = 0; n < LOADS; n += 1) {
      await takeTurns(cores, async (turn) => {
        loads[turn].push(await loadView(browser, `${url}/${hash}`));
        loops[turn].push(await runLoop(browser));
      });
      onLoad();
    }
    const allLoads = [...loads.shared, ...loads.alone];
    measured.push({
      name,
      requests: Math.max(...allLoads.map(({ requests }) => requests)),
      ...findMedians(loads),
    });
  }
  return { views: measured, loop: findMedians(loops) };
}

interface Turns<Each = Load> {
  readonly shared: Each[];
  /** Loads of a page with its own core; empty if no core can be reserved. */
  readonly alone: Each[];
}

async function takeTurns(
  cores: Cores | undefined,
  measure: (turn: keyof Turns) => Promise<void>,
): Promise<void> {
  await measure('shared');
  if (!cores) return;
  cores.share(false);
  await measure('alone');
  cores.share(true);
}

function findMedians({ shared, alone }: Turns) {
  return { ...findMedian(shared), alone: alone.length > 0 ? findMedian(alone) : undefined };
}

async function runLoop(browser: Browser): Promise<Load> {
  const { page, readTime } = await openTimedPage(browser);
  await page.goto(`data:text/html,<script>${encodeURIComponent(LOOP_SCRIPT)}</script>`);
  const [script, thread] = [await readTime(), await readThreadTime(browser)];
  await page.context().close();
  return { script, thread };
}

async function loadView(browser: Browser, address: string): Promise<CountedLoad> {
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
 * Waits until the view is drawn, and a moment longer for later requests. Polls over the debugging protocol: a script that waits
 * in the page would count as a script of the page.
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
  // While the page begins to load, its document may be replaced between the two calls. The next poll then tries again.
  const { nodeId } = await session.send('DOM.querySelector', query).catch(() => ({ nodeId: 0 }));
  return nodeId !== 0;
}
