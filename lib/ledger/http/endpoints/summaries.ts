// The endpoints of sums, as clients see them.
import { MAX_SUMMARY_DAYS, PERIODS } from '../../domain/summary.ts';
import { monthsQuery } from '../months-json.ts';
import { seriesQuery, summaryQuery } from '../summary-json.ts';
import { type Endpoint, MAX_KB } from './endpoint-declaration.ts';
import {
  DIGEST,
  ID,
  list,
  named,
  object,
  schema,
  succeeded,
  TEXT,
  TOTALS,
} from './response-forms.ts';

const GROUP = {
  key: {
    deprecated: true,
    description: 'The value of the grouping; its type depends on the grouping.',
  },
  category_id: { ...ID, nullable: true, description: 'By `category`; null: no category.' },
  name: { ...TEXT, nullable: true, description: 'By `category`: its name.' },
  type: schema('TransactionType'),
};

const SUMMARY_GROUP = object(TOTALS, {
  ...GROUP,
  period: { ...TEXT, description: 'By a period, such as `2026-03-05`, `2026-03` or `2026`.' },
});
const SUMMARY_DATA = named(
  'SummaryData',
  object({ ...TOTALS, groups: list(named('SummaryGroup', SUMMARY_GROUP)) }),
);

const SERIES_GROUP = object(
  Object.fromEntries(Object.entries(TOTALS).map(([name, each]) => [name, list(each)])),
  GROUP,
);
const SERIES_DATA = named(
  'SeriesData',
  object(
    { ...TOTALS, groups: list(named('SeriesGroup', SERIES_GROUP)) },
    Object.fromEntries(
      PERIODS.map((period) => [`${period}s`, list(TEXT, `The periods, by \`${period}\`.`)]),
    ),
  ),
);

export const SUMMARY_ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  'GET /months': {
    id: 'listMonths',
    summary: 'List months and their digests',
    description: `Months with transactions, oldest first, each of them whole. \`digest\` changes with every creation, change
      and deletion, and is equal for equal sets of transactions; the one beside \`data\` is that of all months shown. It is null
      until every transaction is counted in it. An \`ETag\` that is sent back as \`If-None-Match\` is answered with 304.`,
    query: monthsQuery,
    response: named(
      'Months',
      succeeded({
        data: list(named('Month', object({ month: TEXT, ...TOTALS, digest: DIGEST }))),
        digest: DIGEST,
      }),
    ),
    failure: 'Failed to list months',
    maxKb: MAX_KB.response,
    isTagged: true,
  },
  'GET /summary': {
    id: 'readSummary',
    summary: 'Add up transactions',
    description: `Income, expense, net and number of the transactions, and the same for each group: each category (also
      those without transactions) and what has no category, each type, or each day, month or year from the first to the last that
      has transactions. Days need \`start_date\` and \`end_date\`, ${MAX_SUMMARY_DAYS} days apart at most. Two groupings, such as \`category,month\`, are answered as \`/summary/series\` does.`,
    query: summaryQuery,
    exampleQuery: { group_by: 'category' },
    response: named('Summary', succeeded({ data: SUMMARY_DATA })),
    failure: 'Failed to summarize transactions',
    maxKb: MAX_KB.response,
  },
  'GET /summary/series': {
    id: 'readSummarySeries',
    summary: 'Add up transactions by two groupings',
    description: `The same as \`/summary\`, each group by periods: \`days\`, \`months\` or \`years\` names them, from the first to the last
      that has transactions, and each group has arrays of numbers, one for each period.`,
    query: seriesQuery,
    exampleQuery: { group_by: 'category,month' },
    response: named('SummarySeries', succeeded({ data: SERIES_DATA })),
    failure: 'Failed to summarize transactions',
    maxKb: MAX_KB.response,
  },
};
