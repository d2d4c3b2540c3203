// Renders a run as one HTML page, without scripts or other files, for the change record and for people who were not present.
import { DIFFERENCES } from '../../../lib/migration/reconcile-report.ts';
import { REMEDIES } from '../../../lib/migration/refusals.ts';
import type { Status } from '../../../lib/migration/steps/status.ts';
import { buildApprovalRows, findFacts, formatMilliseconds } from './approval-text.ts';
import { Html, html } from './html.ts';
import { describeUsers } from './next-steps.ts';
import { capitalise } from './run-step.ts';
import { formatLeftBehind } from './status-text.ts';
import { formatCount, formatDuration, formatFacts, formatTime } from './text.ts';

/**
 * Returns the whole page, which is also valid XHTML: every element is closed.
 * @param timeZone zone in which times are shown, in addition to UTC
 */
export function renderReportPage(
  current: Status,
  timeZone = new Intl.DateTimeFormat().resolvedOptions().timeZone,
): string {
  const status = addLastWindow(current);
  const { runId, phase, at } = status;
  const showTime = (iso: string) => formatZonedTime(iso, timeZone);
  const title = `Migration ${runId}: ${phase}`;
  const page = html`<!DOCTYPE html>
<html lang="en" xmlns="http://www.w3.org/1999/xhtml">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${describeUsers(status)} As of ${showTime(at)}.</p>
${renderSection('Summary', renderRows(buildApprovalRows(status)))}
${renderRefusal(status)}
${renderWindow(status)}
${renderTimeline(status, showTime)}
${renderCounts(status)}
${renderDifferences(status)}
${renderLatency(status)}
${renderSection('Plan', renderRows(listPlanRows(status)))}
${renderDurations(status)}
${renderEvidence(status, showTime)}
</main>
</body>
</html>
`;
  return page.text;
}

/** Adds the evidence of the last window, so that the page shows its comparison even after a rollback or a failed window. */
function addLastWindow(status: Status): Status {
  const { evidence, lastWindow = [] } = status;
  const currentKinds = evidence.map(({ kind }) => kind);
  return {
    ...status,
    evidence: [...evidence, ...lastWindow.filter(({ kind }) => !currentKinds.includes(kind))],
  };
}

type TimeText = (iso: string) => string;

function formatZonedTime(iso: string, timeZone: string): string {
  const utc = formatTime(iso);
  if (timeZone === 'UTC' || timeZone === 'Etc/UTC') return utc;
  const local = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  return `${local.format(new Date(iso))} ${timeZone} (${utc})`;
}

function renderRefusal({ refused }: Status): readonly Html[] {
  if (!refused) return [];
  const { name, why } = refused;
  return [
    renderSection(
      'Refused',
      renderRows([
        ['Refusal', name],
        ['Why', why],
        ['What to do', REMEDIES[name]],
      ]),
    ),
  ];
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --soft: #eef1f4; --old: #6e40c9; --new: #0a6b58; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --soft: #1b222b; --old: #c8a6ff; --new: #5fd4b4; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
section { margin-top: 2rem; overflow-x: auto; }
table { border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--soft); }
td { overflow-wrap: anywhere; }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
svg { max-width: 100%; height: auto; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
.track { fill: var(--soft); } .old { fill: var(--old); } .new { fill: var(--new); }
`;

function renderSection(title: string, content: Html | readonly Html[]): Html {
  return html`<section>
<h2>${title}</h2>
${content}
</section>`;
}

type Row = readonly [name: string, text: string];

function renderRows(rows: readonly Row[]): Html {
  const renderRow = ([name, text]: Row) =>
    html`<tr><th scope="row">${name}</th><td>${text}</td></tr>\n`;
  return html`<table><tbody>\n${rows.map(renderRow)}</tbody></table>`;
}

function renderNumbers(rows: readonly (readonly [string, number])[]): Html {
  const renderRow = ([name, number]: readonly [string, number]) =>
    html`<tr><th scope="row">${name}</th><td class="number">${number.toLocaleString('en')}</td></tr>\n`;
  return html`<table><tbody>\n${rows.map(renderRow)}</tbody></table>`;
}

interface Bar {
  readonly name: string;
  readonly value: number;
  readonly text: string;
  readonly kind: 'old' | 'new';
}

const [CHART_WIDTH, LABEL_WIDTH, ROW_HEIGHT] = [640, 150, 24];

/** @param title text for readers who cannot see the chart */
function renderBarChart(title: string, bars: readonly Bar[]): Html {
  const maxValue = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE);
  const height = bars.length * ROW_HEIGHT;
  const draw = ({ name, value, text, kind }: Bar, index: number) => {
    const length = ((value / maxValue) * (CHART_WIDTH - 2 * LABEL_WIDTH)).toFixed(1);
    return html`<text x="0" y="${index * ROW_HEIGHT + 16}">${name}</text>
<rect class="${kind}" x="${LABEL_WIDTH}" y="${index * ROW_HEIGHT + 4}" width="${length}" height="${ROW_HEIGHT - 8}" />
<text x="${(LABEL_WIDTH + Number(length) + 6).toFixed(1)}" y="${index * ROW_HEIGHT + 16}">${text}</text>\n`;
  };
  return html`<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 ${CHART_WIDTH} ${height}" width="${CHART_WIDTH}" height="${height}">
<title>${title}</title>
${bars.map(draw)}</svg>`;
}

function renderWindow({ approval, plan }: Status): readonly Html[] {
  if (!approval?.forecast) return [];
  const { estimates, seconds } = approval.forecast;
  const bars = estimates.map(({ stage, seconds, basis }) => ({
    name: stage,
    value: seconds,
    kind: 'new' as const,
    text: `${formatDuration(seconds * 1_000)} (${basis})`,
  }));
  const title = `The window: ${formatDuration(seconds * 1_000)} of ${formatCount(plan.windowMinutes, 'minute')} expected`;
  return [
    renderSection('Forecast of the window', [html`<p>${title}</p>\n`, renderBarChart(title, bars)]),
  ];
}

/** Draws the phases one below the other, on a common time axis */
function renderTimeline({ history, at, endedAt }: Status, showTime: TimeText): readonly Html[] {
  const times = history.flatMap(({ phase, at }) => (at ? [{ phase, at: Date.parse(at) }] : []));
  const [first] = times;
  if (!first) return [];
  const end = Math.max(Date.parse(endedAt ?? at), first.at + 1);
  const toX = (time: number) =>
    LABEL_WIDTH + ((time - first.at) / (end - first.at)) * (CHART_WIDTH - LABEL_WIDTH);
  const height = times.length * ROW_HEIGHT;
  const draw = ({ phase, at: startedAt }: (typeof times)[number], index: number) => {
    const x = toX(startedAt);
    const width = Math.max(2, toX(times[index + 1]?.at ?? end) - x);
    return html`<text x="0" y="${index * ROW_HEIGHT + 16}">${phase}</text>
<rect class="track" x="${LABEL_WIDTH}" y="${index * ROW_HEIGHT + 4}" width="${CHART_WIDTH - LABEL_WIDTH}" height="${ROW_HEIGHT - 8}" />
<rect class="new" x="${Math.min(x, CHART_WIDTH - 2).toFixed(1)}" y="${index * ROW_HEIGHT + 4}" width="${width.toFixed(1)}" height="${ROW_HEIGHT - 8}" />\n`;
  };
  const rows = times.map(({ phase, at: startedAt }, index) => {
    const duration = formatDuration((times[index + 1]?.at ?? end) - startedAt);
    return [showTime(new Date(startedAt).toISOString()), `${phase}, ${duration}`] as const;
  });
  const chart = html`<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 ${CHART_WIDTH} ${height}" width="${CHART_WIDTH}" height="${height}">
<title>Phases of the run</title>
${times.map(draw)}</svg>`;
  return [renderSection('Timeline', [chart, renderRows(rows)])];
}

function renderCounts(status: Status): Html {
  const facts = {
    ...findFacts(status, 'backup-manifest'),
    ...findFacts(status, 'verification-report'),
  };
  const names = {
    points: 'points',
    users: 'users',
    copied: 'copied',
    inserted: facts.copied === undefined ? 'copied' : 'copied in the window',
    replaced: 'replaced',
    deleted: 'removed',
    withoutKeywords: 'with words but without a keyword vector',
  };
  const rows = Object.entries(names).flatMap(([key, name]) =>
    typeof facts[key] === 'number' ? [[name, facts[key]] as const] : [],
  );
  return renderSection(
    'Counts',
    rows.length > 0 ? renderNumbers(rows) : html`<p>Nothing was copied yet.</p>`,
  );
}

function renderDifferences(status: Status): Html {
  const facts = findFacts(status, 'verification-report');
  const rows = DIFFERENCES.map((name) => [name, Number(facts[name] ?? 0)] as const);
  const examples = facts.examples
    ? html`<p>For example the points ${String(facts.examples)}.</p>`
    : '';
  const leftBehind = formatLeftBehind(status).map((line) => html`<p>${line}</p>\n`);
  return renderSection('Differences', [renderNumbers(rows), html`${examples}`, ...leftBehind]);
}

function renderLatency(status: Status): readonly Html[] {
  const facts = findFacts(status, 'verification-report');
  const createBar = (kind: 'old' | 'new', label: string, key: string): Bar => {
    const value = Number(facts[key] ?? 0);
    return { kind, name: `${label}, ${kind}`, value, text: formatMilliseconds(value) };
  };
  if (facts.searched === undefined) return [];
  const bars = [
    ...[createBar('old', 'median', 'oldMedianMs'), createBar('new', 'median', 'newMedianMs')],
    ...[
      createBar('old', '95th percentile', 'oldP95Ms'),
      createBar('new', '95th percentile', 'newP95Ms'),
    ],
  ];
  return [
    renderSection('Search latency', [
      renderBarChart('Time of a search in the old and in the new collection', bars),
    ]),
  ];
}

function listPlanRows({ plan, approvedBy, testUser }: Status): Row[] {
  return [
    ...formatFacts({ ...plan }).map((line): Row => {
      const [name = '', ...text] = line.split(': ');
      return [name, text.join(': ')];
    }),
    ['test user', testUser],
    ...(approvedBy ? [['approved by', approvedBy] as const] : []),
  ];
}

function renderDurations({ took }: Status): readonly Html[] {
  const rows = Object.entries(took).map(
    ([step, seconds]): Row => [capitalise(step), formatDuration(Number(seconds) * 1_000)],
  );
  return rows.length > 0 ? [renderSection('Durations', renderRows(rows))] : [];
}

function renderEvidence({ evidence }: Status, showTime: TimeText): Html {
  const rows = evidence.map(
    ({ kind, artifact, digest, recordedAt }): Row => [
      kind,
      `${recordedAt ? showTime(recordedAt) : ''} ${artifact} SHA-256 ${digest}`,
    ],
  );
  return renderSection('Reports that are kept', renderRows(rows));
}
