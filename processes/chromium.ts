// The browser of tests and measurements: Chromium as the system's packages install it, or CHROMIUM_BIN.
import { type Browser, chromium } from 'playwright-core';
import { readOutput } from './tools.ts';

/** Long, because a busy machine takes minutes: only a browser that hangs may reach it. */
const START_MS = 300_000;

const { CHROMIUM_BIN: program = 'chromium' } = process.env;

/** Why it cannot run on this machine; undefined where it can. */
export function whyNoChromium(): string | undefined {
  return readOutput(program, '--version') ? undefined : 'there is no Chromium';
}

/** Launches a browser that reaches only the service of the page. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = readOutput('sh', '-c', `command -v "${program}"`)?.trim() ?? program;
  return await chromium.launch({
    executablePath,
    timeout: START_MS,
    args: [
      ...['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
      ...['--disable-component-update', '--disable-sync'],
      // Chromium refuses to start as root with its sandbox, as in containers.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
}
