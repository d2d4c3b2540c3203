// An export has parts that each fit into one response. A part begins after the last transaction of the previous part. The
// concatenated parts of a CSV export are one file: only the first part has the header line. A Link header names the next part
// of a CSV export. In JSON, `next` does.
import * as v from 'valibot';
import { sum } from '../domain/day-histogram.ts';
import { formatDigest, sumDigest } from '../domain/month-digest.ts';
import type { ListPosition } from '../domain/pagination.ts';
import type {
  ExportPart,
  ExportQuery,
  TransactionWithCategoryName,
} from '../domain/transaction.ts';
import { partCursor, toPartCursor } from './cursor.ts';
import { parseFilter } from './fields.ts';
import type { Query } from './query-string.ts';
import type { NoBody, Reply, ReplyTo } from './replies.ts';
import { CSV_HEADER, toCsvLine } from './transaction-csv.ts';
import { toTransactionJson } from './transaction-json.ts';
import { toTransactionSelection, transactionSelection } from './transaction-query.ts';

/** A response of Lambda may have 6 MB of JSON text. Escapes in the JSON text count as well. */
const MAX_PART_BYTES = 4_000_000;

interface ExportInput {
  readonly query: Query;
  readonly path: string;
  readonly accept?: string | undefined;
}

export const exportQuery = v.object({
  ...transactionSelection,
  cursor: v.exactOptional(
    v.pipe(
      partCursor,
      v.description('The cursor in the Link header, or in `next`, of the previous part.'),
    ),
  ),
});

/**
 * For the API description only, which gives each path a single form of response. Many generated clients send `Accept:
 * application/json` with every request, because failures are JSON. With `format`, they still get CSV.
 */
export const exportFileQuery = v.object({
  format: v.pipe(v.picklist(['csv']), v.description('`csv`. It overrides `Accept`.')),
  ...exportQuery.entries,
});

const eitherQuery = v.object({
  ...exportQuery.entries,
  format: v.exactOptional(v.picklist(['csv', 'json'], 'Must be "csv" or "json".')),
});

export interface ExportRequest {
  readonly query: ExportQuery;
  readonly isJson: boolean;
}

/**
 * Parses a request. `/transactions/export.json` returns JSON. `/transactions/export` returns the format that `format` names or,
 * without `format`, the one that `Accept` prefers.
 * @throws ValidationError with the errors of every parameter
 */
export function parseExportRequest({ query, path, accept }: ExportInput): ExportRequest {
  const {
    cursor: after,
    format,
    ...input
  } = /\.json\/?$/.test(path)
    ? { ...parseFilter(exportQuery, query), format: 'json' }
    : parseFilter(eitherQuery, query);
  const isJson = format ? format === 'json' : prefersJson(accept);
  return { query: { ...toTransactionSelection(input), after, digest: after?.digest }, isJson };
}

/** @param query the query as the client sent it; the query for the next part has the same filters */
export function toExportReply(
  part: ExportPart<TransactionWithCategoryName>,
  { query, isJson, ...digests }: JsonExport & { readonly isJson: boolean },
): ReplyTo<'exportTransactions' | 'exportTransactionsAsJson'> {
  const reply: ReturnType<typeof toExportReply> = isJson
    ? toJsonReply(part, { query, ...digests })
    : toCsvReply(part, query);
  return { ...reply, headers: { ...reply.headers, vary: 'accept' } };
}

interface JsonExport {
  readonly query: Query;
  /** The sum of the previous parts' digests. */
  readonly digest?: bigint | undefined;
  /** True if the digest of the exported month is complete; undefined if the export is not exactly one month. */
  readonly hasMonthDigest?: boolean | undefined;
}

/** True if the client prefers JSON to CSV. False without a preference, as with `*\/*`. */
function prefersJson(accept = '*/*'): boolean {
  const ranges = accept
    .toLowerCase()
    .split(',')
    .map((range) => range.split(';').map((part) => part.trim()));
  const findQuality = (type: string) => {
    const matches = [type, type.replace(/\/.*/, '/*'), '*/*'].map((name) =>
      ranges.find(([range]) => range === name),
    );
    const [, ...parameters] = matches.find((range) => range !== undefined) ?? ['', 'q=0'];
    return Number(parameters.find((each) => each.startsWith('q='))?.slice(2) ?? 1);
  };
  return findQuality('application/json') > findQuality('text/csv');
}

function toCsvReply(part: ExportPart<TransactionWithCategoryName>, query: Query): Reply<NoBody> {
  const { start_date = '', end_date = '', cursor } = query;
  const { shownRows, last } = takeFittingRows(part, toCsvLine);
  const header = cursor === undefined ? CSV_HEADER : '';
  const name = ['transactions', start_date, end_date].filter((each) => each !== '').join('_');
  const headers = {
    'content-type': `text/csv; charset=utf-8; header=${header ? 'present' : 'absent'}`,
    'content-disposition': `attachment; filename="${name}.csv"`,
    ...(last && { link: `<?${createNextQuery(query, last)}>; rel="next"` }),
  };
  return { status: 200, body: {}, headers, text: header + shownRows.join('') };
}

/** The last part of a month has the digest of the rows that the parts returned, even if the indexes lacked recent changes. */
function toJsonReply(
  part: ExportPart<TransactionWithCategoryName>,
  { query, digest = 0n, hasMonthDigest }: JsonExport,
) {
  const { shownRows, last } = takeFittingRows(part, toTransactionJson);
  const toNextQuery = (sum?: bigint) => (last ? createNextQuery(query, last, sum) : null);
  const body = { success: true, data: shownRows };
  if (hasMonthDigest === undefined) return { status: 200, body: { ...body, next: toNextQuery() } };
  const digestSoFar = digest + sumDigest(part.items.slice(0, shownRows.length));
  const totalDigest = last ? {} : { digest: hasMonthDigest ? formatDigest(digestSoFar) : null };
  return { status: 200, body: { ...body, next: toNextQuery(digestSoFar), ...totalDigest } };
}

/** Takes the rows that fit into one response, and the position after which the next part begins. */
function takeFittingRows<Shown>(
  { items, next }: ExportPart<TransactionWithCategoryName>,
  show: (item: TransactionWithCategoryName) => Shown,
): { readonly shownRows: readonly Shown[]; readonly last: ListPosition | undefined } {
  // This cheap check nearly always succeeds: it needs only the lengths of the texts.
  if (sum(items.map(estimateMaxBytes)) <= MAX_PART_BYTES) {
    return { shownRows: items.map(show), last: next };
  }
  const shownRows: Shown[] = [];
  let size = 0;
  for (const [n, item] of items.entries()) {
    const each = show(item);
    const text = typeof each === 'string' ? each : JSON.stringify(each);
    size += Buffer.byteLength(JSON.stringify(text));
    if (size > MAX_PART_BYTES) return { shownRows, last: items[n - 1] };
    shownRows.push(each);
  }
  return { shownRows, last: next };
}

/** Returns an upper bound: 7 bytes for each character (escaped twice), and 700 bytes for names, numbers and dates. */
function estimateMaxBytes(row: TransactionWithCategoryName): number {
  const texts = [row.description, row.notes, row.categoryName, row.externalId, row.importId];
  return 700 + 7 * sum(texts.map((text) => text?.length ?? 0));
}

function createNextQuery(query: Query, last: ListPosition, digest?: bigint): string {
  const cursor = toPartCursor(last, digest);
  const input = Object.entries(query).map(([name, value = '']) => [name, String(value)]);
  return new URLSearchParams({ ...Object.fromEntries(input), cursor }).toString();
}
