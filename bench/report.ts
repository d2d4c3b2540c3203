// The report of one part of the bench, formatted as Markdown.

/** A limit that a measured figure must meet. */
export interface Bar {
  readonly rule: string;
  readonly figure: string;
  readonly limit: string;
  /** True if the figure meets the limit; undefined if this run does not judge the bar. */
  readonly met: boolean | undefined;
}

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

export interface Report {
  readonly bars: readonly Bar[];
  readonly tables: readonly Table[];
  /** The reason if the part was left out. */
  readonly skipped?: string;
}

/** @param unit the unit after the number, with a space if there is one in between, such as ` ms` */
export function atMost(rule: string, value: number, limit: number, unit: string): Bar {
  return {
    rule,
    figure: `${formatNumber(value)}${unit}`,
    limit: `at most ${formatNumber(limit)}${unit}`,
    met: value <= limit,
  };
}

export function atLeast(rule: string, value: number, limit: number, unit: string): Bar {
  return {
    rule,
    figure: `${formatNumber(value)}${unit}`,
    limit: `at least ${formatNumber(limit)}${unit}`,
    met: value >= limit,
  };
}

/** Marks a bar as not judged, for example because the run is too small. */
export function markNotJudged(bar: Bar): Bar {
  return { ...bar, met: undefined };
}

export function toMarkdown({ bars, tables, skipped }: Report): string {
  const blocks = [
    ...(skipped ? [`**Skipped:** ${skipped}`] : []),
    ...(bars.length > 0 ? [formatTable(['Bar', 'Measured', 'Limit', ''], bars.map(toRow))] : []),
    ...tables.flatMap(({ title, columns, rows }) => [title, formatTable(columns, rows)]),
  ];
  return blocks.join('\n\n');
}

/** Rounds to about three digits: 2,770 or 12.3 or 0.31. */
export function formatNumber(value: number): string {
  const fractionDigits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en', { maximumFractionDigits: fractionDigits });
}

function toRow({ rule, figure, limit, met }: Bar): string[] {
  return [rule, figure, limit, describeVerdict(met)];
}

function describeVerdict(met: boolean | undefined): string {
  if (met === undefined) return 'not judged';
  return met ? 'met' : '**not met**';
}

function formatTable(
  columns: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const cells = rows.map((row) =>
    row.map((cell) => (typeof cell === 'number' ? formatNumber(cell) : cell)),
  );
  const alignments = columns.map((_, column) => {
    return rows.length > 0 && rows.every((row) => typeof row[column] === 'number') ? '--:' : '---';
  });
  return [columns, alignments, ...cells].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
