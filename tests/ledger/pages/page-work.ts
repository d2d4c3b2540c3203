// Measures the browser's work on the page by counting function calls and layouts, which are the same on any machine.
import type { Page } from 'playwright-core';

/**
 * Counts calls of the script's functions from now on.
 * @param page must not have been opened yet
 * @param script source of the page's script
 */
export async function countCalls(page: Page, script: string) {
  const profiler = await page.context().newCDPSession(page);
  await profiler.send('Profiler.enable');
  await profiler.send('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  /** For each text, counts the calls of the smallest function that contains it, since the previous count. */
  return async (texts: readonly string[]): Promise<Readonly<Record<string, number>>> => {
    const { result } = await profiler.send('Profiler.takePreciseCoverage');
    // The profiler lists only functions that were called.
    const functions = (result.find(({ url }) => url.includes('/page.js'))?.functions ?? []).flatMap(
      ({ ranges: [range] }) => range ?? [],
    );
    const count = (text: string) =>
      functions
        .filter(({ startOffset, endOffset }) => script.slice(startOffset, endOffset).includes(text))
        .toSorted((a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset))[0]
        ?.count ?? 0;
    return Object.fromEntries(texts.map((text) => [text, count(text)]));
  };
}

interface Layout {
  readonly frame: string;
  readonly totalObjects: number;
}

interface TraceEvent {
  readonly name?: string;
  readonly args?: { readonly beginData?: Layout };
}

/**
 * Returns the layouts of the page that the browser performs during `run`. A trace covers the whole browser; the address bar of full
 * Chromium is a page, too, and its layouts are left out.
 */
export async function traceLayouts(
  page: Page,
  run: () => Promise<void>,
): Promise<readonly Layout[]> {
  const session = await page.context().browser()?.newBrowserCDPSession();
  if (!session) throw new Error('The browser cannot be traced');
  const pageSession = await page.context().newCDPSession(page);
  const { frameTree } = await pageSession.send('Page.getFrameTree');
  await pageSession.detach();
  const layouts: Layout[] = [];
  session.on('Tracing.dataCollected', ({ value }) => {
    for (const event of value as readonly TraceEvent[])
      if (event.name === 'Layout' && event.args?.beginData) layouts.push(event.args.beginData);
  });
  const traceConfig = { includedCategories: ['devtools.timeline'] };
  await session.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig });
  await run();
  const complete = new Promise<void>((resolve) => {
    session.once('Tracing.tracingComplete', () => resolve());
  });
  await session.send('Tracing.end');
  await complete;
  await session.detach();
  return layouts.filter(({ frame }) => frame === frameTree.frame.id);
}
