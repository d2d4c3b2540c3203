// The report page of a migration in a browser: in light and dark mode, on a desktop and on a phone. The page makes no requests,
// runs no scripts, and has no fault that axe can find.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderReportPage } from '../../../cli/migration/migrate/report-page.ts';
import { launchChromium, whyChromiumUnavailable } from '../../../processes/chromium.ts';
import { expectAccessible, openPage } from '../../shared/pages/opened-pages.ts';
import { createStatus } from '../support/full-status.ts';

const HOSTILE = `</title></style><img src=http://evil.example/x onerror="document.title=1"><script>document.title=1</script>`;

describe.skipIf(whyChromiumUnavailable())('the page of a migration', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  test.each([
    ['light', 1_200],
    ['dark', 390],
  ] as const)(
    'is accessible and makes no requests in %s mode, %i pixels wide',
    async (colorScheme, width) => {
      const page = await openPage(browser, { colorScheme, viewport: { width, height: 800 } });
      const problems: string[] = [];
      page.on('console', (message) => problems.push(message.text()));
      page.on('pageerror', ({ message }) => problems.push(message));
      page.on('request', (request) => problems.push(request.url()));
      await page.setContent(renderReportPage(createStatus(HOSTILE)));
      expect(await page.title()).toMatch(/^Migration /);
      expect(await page.evaluate('document.images.length + document.scripts.length')).toBe(0);
      await expectAccessible(page);
      expect(problems).toEqual([]);
      await page.context().close();
    },
  );
});
