// Checks that the table is still protected from deletion and has backups: a deployment or an operator can switch both off.
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import { CanaryFailed } from './canary.ts';

/** @throws CanaryFailed that names each protection that is off */
export async function requireProtectedTable(
  client: Pick<DynamoDBClient, 'send'>,
  TableName: string,
): Promise<void> {
  const [{ Table }, { ContinuousBackupsDescription }] = await Promise.all([
    client.send(new DescribeTableCommand({ TableName })),
    client.send(new DescribeContinuousBackupsCommand({ TableName })),
  ]);
  const { PointInTimeRecoveryStatus } =
    ContinuousBackupsDescription?.PointInTimeRecoveryDescription ?? {};
  const off = [
    ...(Table?.DeletionProtectionEnabled ? [] : ['deletion protection']),
    ...(PointInTimeRecoveryStatus === 'ENABLED' ? [] : ['point-in-time recovery']),
  ];
  if (off.length > 0) {
    throw new CanaryFailed(`The table ${TableName} has no ${off.join(' and no ')}.`);
  }
}
