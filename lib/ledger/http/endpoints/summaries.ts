// The endpoints of sums, as clients see them.
import { MAX_SUMMARY_DAYS, PERIODS } from '../../domain/summary.ts';
import { monthsQuery } from '../months-json.ts';
import { seriesQuery, summaryQuery } from '../summary-json.ts';
import { type Endpoint, MAX_KB } from './endpoint-declaration.ts';
import {
  DIGEST,
  ID,
  list,
  nameForm,
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
  category_id: {
    ...ID,
    nullable: true,
    description: 'Only when grouped by `category`; null for transactions without one.',
  },
  name: {
    ...TEXT,
    nullable: true,
    description: 'Only when grouped by `category`: the name of the category.',
  },
  type: schema('TransactionType'),
};

const SUMMARY_GROUP = object(TOTALS, {
  ...GROUP,
  period: {
    ...TEXT,
    description: 'Only when grouped by a period: `2026-03-05`, `2026-03` or `2026`.',
  },
});
const SUMMARY_DATA = nameForm(
  'SummaryData',
  object({ ...TOTALS, groups: list(nameForm('SummaryGroup', SUMMARY_GROUP)) }),
);

const SERIES_GROUP = object(
  Object.fromEntries(Object.entries(TOTALS).map(([name, each]) => [name, list(each)])),
  GROUP,
);
const SERIES_DATA = nameForm(
  'SeriesData',
  object(
    { ...TOTALS, groups: list(nameForm('SeriesGroup', SERIES_GROUP)) },
    Object.fromEntries(
      PERIODS.map((period) => [
        `${period}s`,
        list(TEXT, `The periods, when grouped by \`${period}\`.`),
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
    response: nameForm(
      'Months',
      succeeded({
        data: list(nameForm('Month', object({ month: TEXT, ...TOTALS, digest: DIGEST }))),
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
    description: `Returns income, expense, net and number of the transactions, in total and for each group: each category
      (also those without transactions) and the transactions without one, each type, or each day, month or year from the first to the
      last that has transactions. Days need \`start_date\` and \`end_date\`, at most ${MAX_SUMMARY_DAYS} days apart. Two groupings, such as \`category,month\`, are answered like \`/summary/series\`.`,
    query: summaryQuery,
    exampleQuery: { group_by: 'category' },
    response: nameForm('Summary', succeeded({ data: SUMMARY_DATA })),
    failure: 'Failed to summarize transactions',
    maxKb: MAX_KB.response,
  },
  'GET /summary/series': {
    id: 'readSummarySeries',
    summary: 'Add up transactions by two groupings',
    description: `Returns the same as \`/summary\`, with each group split by period. \`days\`, \`months\` or \`years\` lists the periods,
      from the first to the last that has transactions, and each group has arrays with one number for each period.`,
    query: seriesQuery,
    exampleQuery: { group_by: 'category,month' },
    response: nameForm('SummarySeries', succeeded({ data: SERIES_DATA })),
    failure: 'Failed to summarize transactions',
    maxKb: MAX_KB.response,
  },
};
