// A separate table for each test file, created from the deployed definition.
import { randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { inject } from 'vitest';
import { createDocumentClient } from '../../../lib/shared/document-client.ts';
import { createLocalClient, createTable } from '../../../local/create-table.ts';

export interface TestTable {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly endpoint: string;
}

/** Creates a table, which is lost when the engine stops at the end of the run. */
export async function createTestTable(): Promise<TestTable> {
  const endpoint = inject('databaseEndpoint');
  if (!endpoint)
    throw new Error('tests/shared/support/database-engine.ts has to be the global setup');
  const tableName = `test-${randomUUID()}`;
  const client = createLocalClient(endpoint);
  try {
    await createTable(client, tableName);
  } finally {
    client.destroy();
  }
  return { client: createUnsignedClient(endpoint), tableName, endpoint };
}

/** A client that does not sign its requests: no local engine checks signatures, and signing takes time. */
function createUnsignedClient(endpoint: string): DynamoDBDocumentClient {
  const client = createDocumentClient(endpoint);
  client.config.signer = async () => ({
    sign: async (request) => {
      Object.assign(request.headers, UNSIGNED);
      return request;
    },
  });
  return client;
}

/** The key and the region are those of `createTable`: DynamoDB Local keeps separate tables for each key and region. */
const UNSIGNED = {
  'x-amz-date': '20260101T000000Z',
  authorization:
    'AWS4-HMAC-SHA256 Credential=local/20260101/eu-west-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
};
