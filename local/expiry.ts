// Deletes expired items. On AWS, DynamoDB does so itself. The local databases do not.
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, type DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';

/** Reads the whole table page by page, and deletes the expired items of each page. */
export async function deleteExpired(
  client: DynamoDBDocumentClient,
  TableName: string,
  now = Math.floor(Date.now() / 1000),
): Promise<void> {
  const expiryCondition = {
    ConditionExpression: 'expires_at <= :now',
    ExpressionAttributeValues: { ':now': now },
  };
  const { ConditionExpression: FilterExpression, ...values } = expiryCondition;
  const query = { TableName, FilterExpression, ProjectionExpression: 'pk, sk', ...values };
  for await (const { Items = [] } of paginateScan({ client }, query)) {
    for (const Key of Items) {
      // A request may have renewed the item meanwhile.
      await client
        .send(new DeleteCommand({ TableName, Key, ...expiryCondition }))
        .catch((error) => {
          if (!(error instanceof ConditionalCheckFailedException)) throw error;
        });
    }
  }
}
