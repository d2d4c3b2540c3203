// Deletes expired items, as DynamoDB does by itself and the local databases do not.
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, type DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import { createDocumentClient } from '../lib/shared/document-client.ts';
import type { Running } from '../processes/running.ts';

const HOUR_MILLISECONDS = 60 * 60 * 1000;

/** Deletes expired items now and once an hour, until everything stops. The next attempt makes up for one that fails. */
export function expireItems(
  running: Running,
  options: {
    readonly endpoint: string;
    readonly tableName: string;
    readonly onFailure: (error: unknown) => void;
  },
): void {
  const { endpoint, tableName, onFailure } = options;
  const client = createDocumentClient(endpoint);
  let isStopping = false;
  const expire = () =>
    void deleteExpired(client, tableName).catch((error) => isStopping || onFailure(error));
  const timer = setInterval(expire, HOUR_MILLISECONDS).unref();
  running.whenStopping(() => {
    isStopping = true;
    clearInterval(timer);
    client.destroy();
  });
  expire();
}

/** Reads the table a page at a time. */
export async function deleteExpired(
  client: DynamoDBDocumentClient,
  TableName: string,
  now = Math.floor(Date.now() / 1000),
): Promise<void> {
  const expired = {
    ConditionExpression: 'expires_at <= :now',
    ExpressionAttributeValues: { ':now': now },
  };
  const { ConditionExpression: FilterExpression, ...values } = expired;
  const query = { TableName, FilterExpression, ProjectionExpression: 'pk, sk', ...values };
  for await (const { Items = [] } of paginateScan({ client }, query)) {
    for (const Key of Items) {
      // A request may have renewed it meanwhile.
      await client.send(new DeleteCommand({ TableName, Key, ...expired })).catch((error) => {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
      });
    }
  }
}
