// Formats the rehearsal's output: the timeline of each act, a table of counts, and the problems found.
import { isSuccessful, type Outcome } from './outcome.ts';

/** The outcome of an act, or the reason why it was skipped. */
export interface ActResult {
  readonly number: number;
  readonly title: string;
  readonly seconds: number;
  readonly outcome: Outcome | { readonly skipped: string };
}

const MAX_LISTED_PROBLEMS = 10;

const COLUMNS: Readonly<Record<string, (outcome: Outcome) => string | number>> = {
  'ends as': ({ phase }) => phase,
  'works on': ({ worksOn }) => worksOn,
  before: ({ before }) => before,
  after: ({ after }) => after,
  users: ({ users }) => users,
  'counts differ': ({ usersDiffering }) => usersDiffering,
  largest: ({ largest }) => largest,
  acknowledged: ({ acknowledgedLoss }) => acknowledgedLoss,
  lost: ({ lost }) => lost.length,
  'as expected': ({ surprises, unexpected }) =>
    surprises.length + unexpected.length === 0 ? 'yes' : 'NO',
};

export function describeAct({ number, title, seconds, outcome }: ActResult): string {
  const head = `\n${number}. ${title}`;
  if ('skipped' in outcome) return `${head}\n   skipped: ${outcome.skipped}`;
  const events = outcome.timeline.map(
    ({ minutes, event }) => `${minutes.toFixed(1).padStart(8)} min  ${event}`,
  );
  return [`${head} (${seconds.toFixed(1)} s)`, ...events].join('\n');
}

export function describeCounts(acts: readonly ActResult[]): string {
  const rows = acts.map(({ number, title, outcome }) => [
    `${number}. ${title}`,
    ...('skipped' in outcome
      ? ['skipped']
      : Object.values(COLUMNS).map((show) => String(show(outcome)))),
  ]);
  const table = [['act', ...Object.keys(COLUMNS)], ...rows];
  const widths = table[0]?.map((_, column) =>
    Math.max(
      ...table.map((row) => (column > 0 && row.length === 2 ? 0 : (row[column] ?? '').length)),
    ),
  );
  return table
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths?.[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Lists each memory that was lost or changed, and each expectation that did not hold. */
export function describeProblems(acts: readonly ActResult[]): string[] {
  return acts.flatMap(({ number, outcome }) =>
    'skipped' in outcome
      ? []
      : [
          ...listProblems('lost', outcome.lost),
          ...listProblems('unexpected', outcome.unexpected),
          ...listProblems('not as expected', outcome.surprises),
        ].map((problem) => `act ${number}, ${problem}`),
  );
}

/** Returns the last line of the output. */
export function describeEnd(outcomes: readonly Outcome[]): string {
  if (!outcomes.every(isSuccessful)) return 'The rehearsal failed.';
  const acknowledged = outcomes.reduce((sum, { acknowledgedLoss }) => sum + acknowledgedLoss, 0);
  if (acknowledged === 0) return 'Nothing was lost.';
  return `${acknowledged} writes left behind as acknowledged; nothing was lost.`;
}

function listProblems(kind: string, problems: readonly string[]): string[] {
  const unlisted = problems.length - MAX_LISTED_PROBLEMS;
  return [
    ...problems.slice(0, MAX_LISTED_PROBLEMS).map((problem) => `${kind}: ${problem}`),
    ...(unlisted > 0 ? [`${kind}: ${unlisted} more`] : []),
  ];
}
