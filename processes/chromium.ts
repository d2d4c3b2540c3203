// The browser for tests and measurements: the program that CHROMIUM_BIN names, or else the system's Chromium.
import { type Browser, chromium } from 'playwright-core';
import { readOutput } from './tools.ts';

/** Long enough for a busy machine, on which a start takes minutes: only a browser that hangs reaches the limit. */
const START_MS = 300_000;

const { CHROMIUM_BIN: program = 'chromium' } = process.env;

/** Says why Chromium cannot run on this machine; undefined if it can. */
export function whyChromiumUnavailable(): string | undefined {
  return readOutput(program, '--version') ? undefined : 'there is no Chromium';
}

/** Launches a browser without background traffic, so that it contacts only the page's service. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = readOutput('sh', '-c', `command -v "${program}"`)?.trim() ?? program;
  return await chromium.launch({
    executablePath,
    timeout: START_MS,
    args: [
      ...['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
      ...['--disable-component-update', '--disable-sync'],
      // Chromium refuses to start with its sandbox as root, the usual user in containers.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
}
