// Invoked every five minutes: uses the service as a client does, and checks that its table is protected.
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { runCanary } from '../../lib/ledger/canary/canary.ts';
import { requireProtectedTable } from '../../lib/ledger/canary/table-protection.ts';

export async function handler(): Promise<void> {
  const { API_URL: url = '', CANARY_KEY_PARAMETER: Name, TABLE_NAME = '' } = process.env;
  const { Parameter } = await new SSMClient().send(
    new GetParameterCommand({ Name, WithDecryption: true }),
  );
  const key = Parameter?.Value ?? '';
  await runCanary({ url, key, fetch: globalThis.fetch, sleep, now: () => new Date() });
  await requireProtectedTable(new DynamoDBClient(), TABLE_NAME);
}
