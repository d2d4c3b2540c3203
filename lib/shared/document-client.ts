// The DynamoDB client. It makes one attempt for each call and sets no timeout for responses: database.ts retries and aborts
// calls.
import type { AgentOptions } from 'node:http';
import {
  type AttributeValue,
  DynamoDBClient,
  type DynamoDBClientConfig,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { convertToNative } from '@aws-sdk/util-dynamodb';

type Logger = NonNullable<DynamoDBClientConfig['logger']>;

/** Reads large numbers as bigints, because a double would round them. DynamoDB may write trailing zeros as an exponent. */
const READ_NUMBERS = { wrapNumbers: readNumber };

/**
 * A logger that logs nothing. It has no `info`, so the SDK does not copy and filter every response for a log entry. The SDK calls
 * the other methods without checking that they exist.
 */
const SILENT = { debug: ignore, warn: ignore, error: ignore } as unknown as Logger;

const CONNECTION_TIMEOUT_MS = 1_000;

/** @param endpoint address of a DynamoDB other than the region's own, see `createEndpointConfig` */
export function createDocumentClient(endpoint?: string): DynamoDBDocumentClient {
  const client = new DynamoDBClient({
    ...createEndpointConfig(endpoint),
    maxAttempts: 1,
    logger: SILENT,
  });
  return DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true },
    // A copy is needed: the document client writes its own options into the object.
    unmarshallOptions: { ...READ_NUMBERS },
  });
}

/**
 * Creates the part of a client's configuration that locates the database.
 * @param endpoint an http address, or `unix:` and the path of a socket: the local service opens no port for its database
 */
export function createEndpointConfig(endpoint?: string): DynamoDBClientConfig {
  const connectionTimeout = CONNECTION_TIMEOUT_MS;
  const socketPath = endpoint && /^unix:(.+)/.exec(endpoint)?.[1];
  if (!socketPath) return { ...(endpoint && { endpoint }), requestHandler: { connectionTimeout } };
  // The types of Node's agent lack the path of a socket, which the agent accepts.
  const httpAgent: AgentOptions & { socketPath: string } = { keepAlive: true, socketPath };
  return { endpoint: 'http://localhost', requestHandler: { connectionTimeout, httpAgent } };
}

/** An item in DynamoDB's encoding, as it is sent over the wire. */
export type WireItem = Readonly<Record<string, AttributeValue>>;

/** Decodes strings and numbers directly: nearly all attributes of the table are one or the other. */
export function decodeItem(wire: WireItem): Record<string, unknown> {
  const item: Record<string, unknown> = {};
  for (const name in wire) {
    const value = wire[name];
    if (value?.S !== undefined) item[name] = value.S;
    else if (value?.N !== undefined) item[name] = readNumber(value.N);
    else if (value) item[name] = convertToNative(value, READ_NUMBERS);
  }
  return item;
}

function ignore(): void {}

/** @param text a number as it is sent over the wire, such as `12`, `1.5` or `5.8E+28` */
function readNumber(text: string): number | bigint {
  const value = Number(text);
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value;
  const [, digits = '', fraction = '', exponent = '0'] =
    /^(-?\d+)(?:\.(\d+))?(?:[eE]\+?(\d+))?$/.exec(text) ?? [];
  const zeros = Number(exponent) - fraction.length;
  if (digits === '' || zeros < 0) return value;
  return BigInt(digits + fraction) * 10n ** BigInt(zeros);
}
