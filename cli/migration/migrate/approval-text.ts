// Builds the summary that an operator sees before approving the window, at most twelve lines. The run's report page begins with
// the same summary.
import type { Estimate } from '../../../lib/migration/forecast.ts';
import { formatPercent } from '../../../lib/migration/parity.ts';
import { DIFFERENCES } from '../../../lib/migration/reconcile-report.ts';
import { liveCollectionOf } from '../../../lib/migration/runs/run-names.ts';
import type { Status } from '../../../lib/migration/steps/status.ts';
import { DIGEST_DIGITS } from './next-steps.ts';
import { formatCount, formatDuration } from './text.ts';

type Facts = Status['evidence'][number]['facts'];

/** Builds the rows of the summary, and leaves out unknown figures. */
export function buildApprovalRows(status: Status, windowMinutes = status.plan.windowMinutes) {
  const { plan, approval } = status;
  const rows: (readonly [name: string, text: string | undefined])[] = [
    ['Collections', `${plan.sourceCollection} to ${liveCollectionOf({ plan })}`],
    ...buildComparisonRows(status),
    ['Accepted', plan.accepts.join(', ') || undefined],
    ...(approval?.forecast ? buildForecastRows(approval.forecast, windowMinutes) : []),
  ];
  return rows.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const]));
}

export function findFacts({ evidence }: Pick<Status, 'evidence'>, kind: string): Facts {
  return evidence.find((item) => item.kind === kind)?.facts ?? {};
}

function buildComparisonRows(status: Status): (readonly [string, string | undefined])[] {
  const report = status.evidence.find(({ kind }) => kind === 'verification-report');
  const { points, pending, withoutKeywords, ...facts } = report?.facts ?? {};
  const { users } = findFacts(status, 'backup-manifest');
  if (!report || points === undefined) return [];
  const differingCount = Number(pending ?? 0);
  const differences = DIFFERENCES.flatMap((name) =>
    facts[name] ? [`${name} ${facts[name]}`] : [],
  );
  const equalText = Math.max(0, Number(points) - differingCount).toLocaleString('en');
  const pendingText =
    differingCount > 0 ? ` (${differences.join(', ')}: copied in the window)` : '';
  const differentText = `${differingCount.toLocaleString('en')} different${pendingText}`;
  const { inPlace = false } = status.plan;
  const missingKeywords = Number(withoutKeywords ?? 0);
  return [
    ['Report', report.digest.slice(0, DIGEST_DIGITS)],
    [
      'Points',
      inPlace ? `${equalText} with a keyword vector` : `${equalText} equal, ${differentText}`,
    ],
    ['Users', users === undefined ? undefined : Number(users).toLocaleString('en')],
    [
      'Keywords',
      inPlace
        ? `${formatCount(differingCount, 'point')} to fill in the window`
        : missingKeywords > 0
          ? `${formatCount(missingKeywords, 'point')} with words but without a keyword vector`
          : 'every point with words has its keyword vector',
    ],
    ...buildSearchRows(facts),
  ];
}

function buildSearchRows(facts: Facts): (readonly [string, string])[] {
  const readFigure = (name: string) => Number(facts[name] ?? 0);
  if (facts.searched === undefined) return [];
  const rankText = `the memory itself first in ${formatPercent(readFigure('firstInOld'))} old, ${formatPercent(readFigure('firstInNew'))} new`;
  const describeTimes = (name: string) =>
    `${formatMilliseconds(readFigure(`old${name}`))} old, ${formatMilliseconds(readFigure(`new${name}`))} new`;
  return [
    [
      'Search',
      `${formatCount(readFigure('searched'), 'memory')}: ${formatPercent(readFigure('overlap'))} of the ten nearest the same, ${rankText}`,
    ],
    [
      'Search time',
      `median ${describeTimes('MedianMs')}; 95th percentile ${describeTimes('P95Ms')}`,
    ],
    [
      'By keywords',
      `${readFigure('foundByKeywords')} of ${readFigure('searchedByKeywords')} found by their own words`,
    ],
  ];
}

type Forecast = NonNullable<NonNullable<Status['approval']>['forecast']>;

function buildForecastRows({ estimates, seconds }: Forecast, minutes: number): [string, string][] {
  return [
    [
      'Window',
      `${formatDuration(seconds * 1_000)} expected, ${formatCount(minutes, 'minute')} allowed`,
    ],
    ['Stages', estimates.map(formatEstimate).join(', ')],
  ];
}

/** Formats an estimate, such as `backup 2m 3s (measured)` */
function formatEstimate({ stage, seconds, basis }: Estimate): string {
  return `${stage} ${formatDuration(seconds * 1_000)} (${basis})`;
}

export function formatMilliseconds(milliseconds: number): string {
  return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
}
