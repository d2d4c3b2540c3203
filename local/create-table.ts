// Creates the table of a local database, from the same definition as a deployment.
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { createEndpointConfig } from '../lib/shared/document-client.ts';
import definition from '../lib/shared/table.json' with { type: 'json' };
import { firstLine, UserError } from '../lib/shared/user-error.ts';
import { readLocalAccess } from './local-access.ts';

/** A local database usually responds within two seconds. After its start, or on a busy machine, it may take ten times as long. */
const RESPONSE_TIMEOUT_MILLISECONDS = 30_000;
/** The SDK requires a limit. An hour is so long that the caller's signal decides. */
const MAX_WAIT_SECONDS = 3_600;

/** Creates a client for a local database; the caller must destroy the client. */
export function createLocalClient(endpoint: string): DynamoDBClient {
  const { region, accessKeyId, secretAccessKey } = readLocalAccess(process.env);
  return new DynamoDBClient({
    ...createEndpointConfig(endpoint),
    region,
    credentials: { accessKeyId, secretAccessKey },
  });
}

/**
 * Creates the table if it is missing, and waits until it can be used.
 * @param abortSignal ends a call that hangs; without a signal, the caller must set a time limit
 */
export async function createTable(
  client: DynamoDBClient,
  tableName: string,
  abortSignal?: AbortSignal,
): Promise<void> {
  const options = abortSignal && { abortSignal };
  const input = { TableName: tableName, ...definition } as CreateTableCommandInput;
  try {
    await client.send(new CreateTableCommand(input), options);
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
  await waitUntilTableExists(
    { client, maxWaitTime: MAX_WAIT_SECONDS, minDelay: 0.05, maxDelay: 1, ...options },
    { TableName: tableName },
  );
}

/**
 * Creates the table if it is missing, and checks the indexes of an existing table.
 * @throws UserError if the database cannot be reached, or the existing table lacks an index
 */
export async function ensureTable(endpoint: string, tableName: string): Promise<void> {
  const client = createLocalClient(endpoint);
  const timeout = AbortSignal.timeout(RESPONSE_TIMEOUT_MILLISECONDS);
  try {
    await createTable(client, tableName, timeout);
    await assertHasIndexes(client, tableName, timeout);
  } catch (error) {
    if (error instanceof UserError) throw error;
    const why = timeout.aborted ? 'it does not answer' : describeReason(error);
    throw new UserError(`The database at ${endpoint} cannot be used: ${why}`);
  } finally {
    client.destroy();
  }
}

async function assertHasIndexes(
  client: DynamoDBClient,
  tableName: string,
  abortSignal: AbortSignal,
): Promise<void> {
  const command = new DescribeTableCommand({ TableName: tableName });
  const { Table } = await client.send(command, { abortSignal });
  const existingIndexes = Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName) ?? [];
  const missing = definition.GlobalSecondaryIndexes.map(({ IndexName }) => IndexName).filter(
    (name) => !existingIndexes.includes(name),
  );
  if (missing.length > 0) {
    throw new UserError(`The table ${tableName} lacks the index ${missing.join(', ')}`);
  }
}

// Prefers the error's code, because a refused connection is an AggregateError without a message.
function describeReason(error: unknown): string {
  const { code } = error as { code?: string };
  return code ?? firstLine(error);
}
