// Measures the time from a key press in each field of the page to the next frame, on a slowed processor.
import type { Browser, Locator, Page } from 'playwright-core';
import { median } from '../statistics.ts';
import { DRAWN_SELECTOR } from './page-views.ts';

export const PRESSES = 10;
export const SLOWDOWN = 4;
/** Number of frames to wait for, because the browser reports a key press only some time after it has drawn the result. */
const REPORTING_FRAMES = 4;
/** Shortest duration of an event that the browser reports. It measures durations in steps of 8 ms. */
export const MIN_REPORTED_MS = 16;

async function waitUntilRendered(page: Page): Promise<void> {
  await page.waitForSelector(DRAWN_SELECTOR);
  await waitForNextFrame(page);
}

/** Waits for a frame that shows everything that has happened so far. */
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

/** The fields to measure. The search field comes last, because a search changes the list. */
export const FIELDS: readonly Field[] = [
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
    name: 'category of the selected rows',
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

export async function measureKeys(browser: Browser, url: string, onField: () => void) {
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

/** Measures key presses in a page that has one field and one listener. The listener draws nothing. */
export async function measureBareField(browser: Browser): Promise<MeasuredField> {
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
  readonly median: number;
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
    measured.push({ name, median: median(presses), slowest: Math.max(...presses) });
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
