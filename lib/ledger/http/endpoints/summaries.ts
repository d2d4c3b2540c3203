// The endpoints of sums, as clients see them.
import { MAX_SUMMARY_DAYS, PERIODS } from '../../domain/summary.ts';
import { monthsQuery } from '../months-json.ts';
import { seriesQuery, summaryQuery } from '../summary-json.ts';
import { type Endpoint, MAX_KB } from './endpoint-declaration.ts';
import {
  DIGEST,
  ID,
  list,
  nameSchema,
  object,
  STRING,
  schemaRef,
  succeeded,
  TOTALS,
} from './response-schemas.ts';

const GROUP = {
  key: {
    deprecated: true,
    description: 'The value of the grouping; its type depends on the grouping.',
  },
  category_id: {
    ...ID,
    nullable: true,
    description: 'Only when grouped by `category`; null for transactions without one.',
  },
  name: {
    ...STRING,
    nullable: true,
    description: 'Only when grouped by `category`: the name of the category.',
  },
  type: schemaRef('TransactionType'),
};

const SUMMARY_GROUP = object(TOTALS, {
  ...GROUP,
  period: {
    ...STRING,
    description: 'Only when grouped by a period: `2026-03-05`, `2026-03` or `2026`.',
  },
});
const SUMMARY_DATA = nameSchema(
  'SummaryData',
  object({ ...TOTALS, groups: list(nameSchema('SummaryGroup', SUMMARY_GROUP)) }),
);

const SERIES_GROUP = object(
  Object.fromEntries(Object.entries(TOTALS).map(([name, each]) => [name, list(each)])),
  GROUP,
);
const SERIES_DATA = nameSchema(
  'SeriesData',
  object(
    { ...TOTALS, groups: list(nameSchema('SeriesGroup', SERIES_GROUP)) },
    Object.fromEntries(
      PERIODS.map((period) => [
        `${period}s`,
        list(STRING, `The periods, when grouped by \`${period}\`.`),
      ]),
    ),
  ),
);

export const SUMMARY_ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  'GET /months': {
    id: 'listMonths',
    summary: 'List months and their digests',
    description: `Returns whole months that have transactions, oldest first. The \`digest\` of a month changes with every
      creation, change and deletion, and is equal for equal sets of transactions; the one beside \`data\` covers all months shown.
      A digest is null until it includes every transaction. A request whose \`If-None-Match\` has the current \`ETag\` is
      answered with 304.`,
    query: monthsQuery,
    response: nameSchema(
      'Months',
      succeeded({
        data: list(nameSchema('Month', object({ month: STRING, ...TOTALS, digest: DIGEST }))),
        digest: DIGEST,
      }),
    ),
    failureMessage: 'Failed to list months',
    maxKb: MAX_KB.response,
    isTagged: true,
  },
  'GET /summary': {
    id: 'readSummary',
    summary: 'Add up transactions',
    description: `Returns the income, expense, net and count of transactions, in total and for each group: each category
      (also those without transactions) and the transactions without one, each type, or each day, month or year from the first to the
      last that has transactions. Days need \`start_date\` and \`end_date\`, at most ${MAX_SUMMARY_DAYS} days apart. Two groupings, such as \`category,month\`, are answered like \`/summary/series\`.`,
    query: summaryQuery,
    exampleQuery: { group_by: 'category' },
    response: nameSchema('Summary', succeeded({ data: SUMMARY_DATA })),
    failureMessage: 'Failed to summarize transactions',
    maxKb: MAX_KB.response,
  },
  'GET /summary/series': {
    id: 'readSummarySeries',
    summary: 'Add up transactions by two groupings',
    description: `Returns the same as \`/summary\`, with each group split by period. \`days\`, \`months\` or \`years\` lists the periods,
      from the first to the last that has transactions, and each group has arrays with one number for each period.`,
    query: seriesQuery,
    exampleQuery: { group_by: 'category,month' },
    response: nameSchema('SummarySeries', succeeded({ data: SERIES_DATA })),
    failureMessage: 'Failed to summarize transactions',
    maxKb: MAX_KB.response,
  },
};
