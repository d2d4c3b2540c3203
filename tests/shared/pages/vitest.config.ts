// npm run test:pages: the pages in a real browser, on the running service.
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { whyChromiumUnavailable } from '../../../processes/chromium.ts';
import { TIME_LIMITS } from '../support/time-limits.ts';
import { WORKERS } from '../support/workers.ts';

const obstacle = whyChromiumUnavailable();
if (obstacle) console.warn(`Skipped: the tests of the pages, because ${obstacle}`);

export default defineConfig({
  test: {
    name: 'pages',
    root: join(import.meta.dirname, '../../..'),
    include: ['tests/*/pages/*.test.ts'],
    ...(obstacle ? {} : { globalSetup: 'tests/ledger/support/running-api.ts' }),
    ...WORKERS,
    ...TIME_LIMITS,
    reporters: ['default', './tests/shared/support/closing-line.ts'],
  },
});
