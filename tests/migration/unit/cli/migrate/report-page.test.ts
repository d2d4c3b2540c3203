// The report page of a run, and the summary before an approval: both show text from people and stores.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { buildApprovalRows } from '../../../../../cli/migration/migrate/approval-text.ts';
import { renderReportPage } from '../../../../../cli/migration/migrate/report-page.ts';
import { isPrintable } from '../../../../../lib/shared/printable.ts';
import { createFakeInvoker, STATUS } from '../../../support/fake-invoker.ts';
import { createStatus } from '../../../support/full-status.ts';
import { RUN } from '../../../support/run-table.ts';
import { typeCommand } from '../../../support/typed-command.ts';

/** Lists the elements that are not closed where they should be. */
function findUnbalanced(page: string): string[] {
  const open: string[] = [];
  const misplaced: string[] = [];
  for (const [, close, name = '', rest] of page.matchAll(/<(\/?)([a-z][\w-]*)([^>]*)>/gi)) {
    if (close && open.pop() !== name) misplaced.push(name);
    if (!close && !rest?.endsWith('/')) open.push(name);
  }
  return [...misplaced, ...open];
}

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onload='alert(1)",
  '</style><svg/onload=alert(1)>',
  '&lt;b&gt; &amp; {x} `',
  '\u202eevil\u0007\u001b[31m\ud800',
  'https://evil.example/?a=1&b=2',
];

describe('the page of a run', () => {
  it.each(HOSTILE)('shows %j as text', (text) => {
    const page = renderReportPage(createStatus(text));
    expect(findUnbalanced(page)).toEqual([]);
    expect(page).not.toMatch(/<(script|img|iframe|link|object|embed|b)\b|<[^>]*\son\w+=/i);
    expect(page.split('\n').every(isPrintable)).toBe(true);
    expect(page.isWellFormed()).toBe(true);
    // No text from outside adds a tag.
    const extractTags = (page: string) => page.match(/<[^>]*>/g);
    expect(extractTags(page)).toEqual(extractTags(renderReportPage(createStatus('plain'))));
  });

  it('loads nothing from elsewhere', () => {
    const page = renderReportPage(createStatus('plain'));
    const addresses = page.match(/\b(?:https?:)?\/\/[^\s"'<]+/g) ?? [];
    expect(new Set(addresses)).toEqual(
      new Set(['http://www.w3.org/1999/xhtml', 'http://www.w3.org/2000/svg']),
    );
    expect(page).not.toMatch(/\b(src|href)=|@import|url\(/);
    expect(page).toContain("default-src 'none'");
    expect(page).toContain('prefers-color-scheme: dark');
  });

  it('has the timeline, counts, differences by name, charts of latencies, and the forecast', () => {
    const page = renderReportPage(createStatus('plain'));
    const heads = [...page.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, head]) => head);
    expect(heads).toEqual([
      ...['Summary', 'Forecast of the window', 'Timeline', 'Counts', 'Differences'],
      ...['Search latency', 'Plan', 'Durations', 'Reports that are kept'],
    ]);
    expect(page.match(/<svg[^>]*role="img"[^>]*>\s*<title>/g)).toHaveLength(3);
    expect(page).toMatch(/missing<\/th><td class="number">2</);
    expect(page).toMatch(/checked, 1h/);
    expect(page).not.toMatch(/NaN|undefined|Infinity|\[object/);
  });

  it('shows the refusal of a failed window, and what was compared', () => {
    const status = createStatus('plain');
    const refused = { name: 'RefusedVerification', why: 'One memory differs.', data: {} };
    const [backup, ...compared] = status.evidence;
    const page = renderReportPage(
      createStatus('plain', { refused, evidence: [backup], lastWindow: compared, approval: null }),
    );
    expect(page).toMatch(/Refusal<\/th><td>RefusedVerification</);
    expect(page).toMatch(/Why<\/th><td>One memory differs\.</);
    expect(page).toMatch(/Points<\/th><td>29,997 equal/);
    expect(page).toMatch(/missing<\/th><td class="number">2</);
  });

  it('counts the copies before the window and in it', () => {
    const { evidence } = createStatus('plain');
    const renderWith = (figures: object) =>
      renderReportPage(
        createStatus('plain', {
          evidence: evidence.map((entry) => ({ ...entry, facts: { ...entry.facts, ...figures } })),
        }),
      );
    expect(renderWith({ inserted: 3, copied: 29_997 })).toMatch(
      /copied<\/th><td class="number">29,997<.*\n.*copied in the window<\/th><td class="number">3</,
    );
    expect(renderWith({ inserted: 30_000 })).toMatch(/copied<\/th><td class="number">30,000</);
  });

  it("shows times in the reader's time zone, beside UTC", () => {
    const page = renderReportPage(createStatus('plain'), 'Europe/Berlin');
    expect(page).toContain('2026-03-01 09:00:00 Europe/Berlin (2026-03-01 08:00:00 UTC)');
    expect(renderReportPage(createStatus('plain'), 'UTC')).not.toContain('(2026-03-01');
  });

  it('can be built for a run with little data', () => {
    const sparse = { evidence: [], history: [], approval: null, took: {}, accepts: [] };
    const page = renderReportPage(createStatus('plain', sparse));
    expect(findUnbalanced(page)).toEqual([]);
    expect(page).not.toMatch(/NaN|undefined|Infinity|\[object/);
  });

  it('is written to a file, or to standard output', async () => {
    const { invoker } = createFakeInvoker({ status: Array(5).fill(createStatus('plain')) });
    const page = renderReportPage(createStatus('plain'));
    expect(await typeCommand(invoker, 'report')).toMatchObject({ code: 0, output: page });
    const folder = await mkdtemp(join(tmpdir(), 'report-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'run.html');
    expect(await typeCommand(invoker, `report ${file}`)).toMatchObject({ code: 0 });
    expect(await readFile(file, 'utf8')).toBe(page);
    expect((await typeCommand(invoker, 'report --json')).events).toMatchObject([{ page }]);
    const refused = await typeCommand(invoker, `report ${join(folder, 'missing', 'page.html')}`);
    expect(refused.code).toBe(3);
    expect(refused.status).toContain('The report cannot be written: ENOENT');
  });
});

describe('before an approval', () => {
  it('an operator reads at most twelve lines', () => {
    expect(buildApprovalRows(createStatus('memories'))).toEqual([
      ['Collections', 'memories to memories'],
      ['Report', 'aaaaaaaaaaaa'],
      ['Points', '29,997 equal, 3 different (missing 2, payload 1: copied in the window)'],
      ['Users', '1,204'],
      ['Keywords', 'every point with words has its keyword vector'],
      [
        'Search',
        '200 memories: 99.8 % of the ten nearest the same, the memory itself first in 100.0 % old, 99.5 % new',
      ],
      ['Search time', 'median 4.2 ms old, 5.0 ms new; 95th percentile 9.0 ms old, 12 ms new'],
      ['By keywords', '197 of 198 found by their own words'],
      ['Accepted', 'search-parity'],
      ['Window', '5m expected, 30 minutes allowed'],
      ['Stages', 'freeze 1m (configured), backup 4m (measured)'],
    ]);
  });

  it('an operator reads what an in-place run will fill', () => {
    const plan = { ...createStatus('memories').plan, inPlace: true };
    const rows = buildApprovalRows(createStatus('memories', { plan }));
    expect(rows).toContainEqual(['Points', '29,997 with a keyword vector']);
    expect(rows).toContainEqual(['Keywords', '3 points to fill in the window']);
  });

  it.each([
    ['run', 4, 'RefusedPrerequisites'],
    ['cutover --execute --window-minutes 4', 4, 'RefusedPrerequisites'],
    ['cutover --execute --window-minutes 6', 30, 'RefusedNotApproved: Not confirmed'],
  ])(
    '%s is refused before its confirmation if the window does not fit',
    async (commandLine, windowMinutes, name) => {
      const plan = { ...STATUS.plan, windowMinutes };
      const status = createStatus('memories', {
        plan,
        takesNoWindow: null,
        moves: [{ command: 'cutover' }, { command: 'abort' }],
      });
      const { invoker, invoked } = createFakeInvoker({ status: Array(9).fill(status) });
      const refused = await typeCommand(invoker, commandLine);
      expect([refused.code, invoked]).toEqual([3, []]);
      expect(refused.output).toContain('Points       29,997 equal');
      expect(refused.status).toContain(name);
      if (name === 'RefusedPrerequisites')
        expect(refused.status).toContain(`cutover --execute --window-minutes 6 --run ${RUN}`);
    },
  );
});
