// The obvious way to list transactions, without stored counts: counts the whole range, and reads up to the end of the page. The
// bench also checks the service against this listing: both must find the same rows.
import {
  type DynamoDBDocumentClient,
  QueryCommand,
  type QueryCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type { TransactionFilter } from '../../lib/ledger/domain/transaction.ts';
import {
  createKeys,
  parseDateKey,
  toFirstKeyOnDay,
  toLastKeyOnDay,
} from '../../lib/ledger/store/keys.ts';
import type { LedgerAddress } from './bench-ledger.ts';
import type { ListResult } from './list-result.ts';

export function createNaiveListing(
  client: Pick<DynamoDBDocumentClient, 'send'>,
  { tableName, ledgerId }: LedgerAddress,
) {
  const keys = createKeys(ledgerId);

  async function readPage(
    filter: TransactionFilter,
    offset: number,
    limit: number,
  ): Promise<ListResult> {
    const query = toQuery(filter);
    const total = await count(query);
    const ids = await readIds(query, offset + limit);
    return { total, ids: ids.slice(offset) };
  }

  /** Returns the ids of all matching rows, newest first. */
  async function readAllIds(filter: TransactionFilter): Promise<number[]> {
    return await readIds(toQuery(filter), Number.POSITIVE_INFINITY);
  }

  async function count(query: QueryCommandInput): Promise<number> {
    let total = 0;
    let startKey: QueryCommandInput['ExclusiveStartKey'];
    do {
      const input = { ...query, Select: 'COUNT' as const, ExclusiveStartKey: startKey };
      const { Count, LastEvaluatedKey } = await client.send(new QueryCommand(input));
      total += Count ?? 0;
      startKey = LastEvaluatedKey;
    } while (startKey);
    return total;
  }

  // Fetches only one attribute. The read units are the same, but less is transferred and decoded.
  async function readIds(query: QueryCommandInput, rows: number): Promise<number[]> {
    const ids: number[] = [];
    let startKey: QueryCommandInput['ExclusiveStartKey'];
    do {
      const limit = Number.isFinite(rows) ? { Limit: rows - ids.length } : {};
      const input = {
        ...query,
        ...limit,
        ProjectionExpression: 'date_key',
        ExclusiveStartKey: startKey,
      };
      const { Items = [], LastEvaluatedKey } = await client.send(new QueryCommand(input));
      ids.push(...Items.map(({ date_key }) => parseDateKey(String(date_key)).id));
      startKey = LastEvaluatedKey;
    } while (startKey && ids.length < rows);
    return ids;
  }

  function toQuery(filter: TransactionFilter): QueryCommandInput {
    const { index, attribute, value } = keys.partition(filter);
    return {
      TableName: tableName,
      IndexName: index,
      KeyConditionExpression: '#partition = :partition AND date_key BETWEEN :first AND :last',
      ExpressionAttributeNames: { '#partition': attribute },
      ExpressionAttributeValues: {
        ':partition': value,
        ':first': toFirstKeyOnDay(filter.startDate ?? '0001-01-01'),
        ':last': toLastKeyOnDay(filter.endDate ?? '9999-12-31'),
      },
      ScanIndexForward: false,
    };
  }

  return { readPage, readAllIds };
}
