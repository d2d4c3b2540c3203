// npm run screenshots: takes the pictures of the page for docs/ledger, from a running service that `npm run seed` has filled.
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from '../../processes/chromium.ts';
import { createCommand, parseHttpAddress, runProgram } from '../../processes/program.ts';
import { readLocalAddress } from './service-client.ts';

const FOLDER = join(import.meta.dirname, '../../docs/ledger');
const SCREEN = { viewport: { width: 1180, height: 760 } };
const DARK = { ...SCREEN, colorScheme: 'dark' } as const;
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

interface Picture {
  readonly name: string;
  readonly options: BrowserContextOptions;
  readonly hash?: string;
  readonly arrange?: (page: Page) => Promise<void>;
}

const PICTURES: readonly Picture[] = [
  { name: 'page-month', options: SCREEN },
  { name: 'page-edit', options: SCREEN, arrange: openRow },
  {
    name: 'page-inbox-dark',
    options: DARK,
    hash: '#category=none&period=3m',
    arrange: showSuggestions,
  },
  { name: 'page-import', options: SCREEN, arrange: previewFile },
  { name: 'page-months-dark', options: DARK, hash: '#period=12m' },
  { name: 'page-phone', options: PHONE },
];

const command = createCommand(
  'npm run screenshots --',
  'Take the pictures of the page in docs/ledger. First: npm run seed -- --transactions 720 --years 2',
)
  .option('--url <url>', 'address of the service', parseHttpAddress, readLocalAddress())
  .action(takeScreenshots);

await runProgram(command);

async function takeScreenshots({ url }: { readonly url: string }): Promise<void> {
  const browser = await launchChromium();
  try {
    for (const { name, options, hash = '', arrange } of PICTURES) {
      const page = await browser.newPage({ locale: 'en-GB', ...options });
      await page.goto(new URL(hash, url).href);
      await page.waitForSelector('#ledger[aria-busy=false] .entry');
      await arrange?.(page);
      await page.screenshot({ path: join(FOLDER, `${name}.png`) });
      await page.context().close();
    }
  } finally {
    await browser.close();
  }
}

async function openRow(page: Page): Promise<void> {
  await page.locator('.entry').nth(1).click();
  const form = page.getByRole('form', { name: /^Edit/ });
  await form.waitFor();
  await form.scrollIntoViewIfNeeded();
}

async function showSuggestions(page: Page): Promise<void> {
  // Scrolls down, so that the field's list of suggestions is in the picture, too.
  await page.evaluate(`document.querySelector('.chips').scrollIntoView()`);
  const field = page.locator('.entry').nth(1).getByRole('combobox', { name: 'Category' });
  await field.fill('e');
  await page.getByRole('listbox', { name: 'Suggestions' }).waitFor();
}

async function previewFile(page: Page): Promise<void> {
  const month = new Date().toISOString().slice(0, 7);
  const lines = [
    `${month}-01,Salary,2500.00,Salary`,
    `${month}-02,Rent,-900.00,Rent`,
    `${month}-05,Bakery,-3.20,Groceries`,
    `${month}-05,Bakery,-3.20,Groceries`,
    `${month}-06,Unreadable,abc,Groceries`,
  ];
  const buffer = Buffer.from(['Date,Description,Amount,Category', ...lines].join('\n'));
  const fileChooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Import a file' }).click();
  await (await fileChooser).setFiles({ name: 'bank.csv', mimeType: 'text/csv', buffer });
  await page.getByRole('region', { name: 'Import preview' }).getByText('4 new').waitFor();
}
