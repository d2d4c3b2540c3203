// The browser for tests and measurements: the program that CHROMIUM_BIN names, or else the system's Chromium.
import { type Browser, chromium } from 'playwright-core';
import { UserError } from '../lib/shared/user-error.ts';
import { readOutput } from './tools.ts';

/** Long enough for a busy machine, on which a start takes minutes: only a browser that hangs reaches the limit. */
const START_MS = 300_000;

/** The shell renders pages as Chromium does, but draws no windows or menus: tests take half the processor time. */
const PROGRAMS = ['chromium-headless-shell', 'chromium'];

/** Says why Chromium cannot run on this machine; undefined if it can. */
export function whyChromiumUnavailable(): string | undefined {
  if (findProgram()) return undefined;
  const { CHROMIUM_BIN } = process.env;
  return CHROMIUM_BIN ? `CHROMIUM_BIN names no browser: ${CHROMIUM_BIN}` : 'there is no Chromium';
}

/** Returns the path of the browser, because Playwright looks up no names. */
function findProgram(): string | undefined {
  const { CHROMIUM_BIN } = process.env;
  const programs = CHROMIUM_BIN ? [CHROMIUM_BIN] : PROGRAMS;
  const program = programs.find((name) => readOutput(name, '--version'));
  return program && (readOutput('sh', '-c', 'command -v "$1"', 'sh', program)?.trim() ?? program);
}

/**
 * Launches a browser without background traffic, so that it contacts only the page's service.
 * @throws UserError if Chromium cannot run on this machine
 */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findProgram();
  if (executablePath === undefined) {
    throw new UserError(
      `The browser cannot start: ${whyChromiumUnavailable()}. Install chromium, or name a browser in CHROMIUM_BIN.`,
    );
  }
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
