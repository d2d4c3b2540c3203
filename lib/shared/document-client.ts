// The DynamoDB client: one attempt a call, without a timeout for responses. database.ts retries, and aborts calls.
import type { AgentOptions } from 'node:http';
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

const CONNECTION_TIMEOUT_MS = 1_000;

/** @param endpoint another DynamoDB than the region's own, see `endpointConfig` */
export function createDocumentClient(endpoint?: string): DynamoDBDocumentClient {
  const client = new DynamoDBClient({ ...endpointConfig(endpoint), maxAttempts: 1 });
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

/**
 * The part of a client's configuration that leads to a database.
 * @param endpoint an http address, or `unix:` and the path of a socket: a local start opens no port for its database
 */
export function endpointConfig(endpoint?: string): DynamoDBClientConfig {
  const connectionTimeout = CONNECTION_TIMEOUT_MS;
  const socketPath = endpoint && /^unix:(.+)/.exec(endpoint)?.[1];
  if (!socketPath) return { ...(endpoint && { endpoint }), requestHandler: { connectionTimeout } };
  // The types of Node's agent leave out that it takes the path of a socket.
  const httpAgent: AgentOptions & { socketPath: string } = { keepAlive: true, socketPath };
  return { endpoint: 'http://localhost', requestHandler: { connectionTimeout, httpAgent } };
}
