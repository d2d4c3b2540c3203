// Writes log lines and metrics with Powertools for AWS Lambda: one JSON object on each line, so that CloudWatch can search
// every field. Amounts, descriptions, names, keys and tokens never go into a log.
import { createHash } from 'node:crypto';
import { LogFormatter, Logger, LogItem } from '@aws-lambda-powertools/logger';
import type { LogAttributes, UnformattedAttributes } from '@aws-lambda-powertools/logger/types';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';

class LineFormatter extends LogFormatter {
  override formatAttributes(
    { logLevel: level, message, timestamp, serviceName: service }: UnformattedAttributes,
    fields: LogAttributes,
  ): LogItem {
    const line = { level, message, timestamp: this.formatTimestamp(timestamp), service };
    return new LogItem({ attributes: { ...line, ...fields } });
  }

  // The default would log every property, and a DynamoDB error carries the items whose conditions failed.
  override formatError(error: Error): LogAttributes {
    const { name, message, stack, cause } = error;
    return { name, message, stack, ...(cause ? { cause: toError(cause) } : {}) };
  }
}

const SERVICE = 'finance-ledger';

const logger = createOnFirstUse(
  () => new Logger({ serviceName: SERVICE, logFormatter: new LineFormatter() }),
);
const metrics = createOnFirstUse(() => new Metrics({ serviceName: SERVICE }));

// Creates a writer on its first use: creating it opens the output, which would slow down the start of a function.
function createOnFirstUse<Writer>(create: () => Writer): () => Writer {
  let writer: Writer | undefined;
  return () => {
    writer ??= create();
    return writer;
  };
}

export interface FailureEntry {
  readonly requestId: string;
  /** The message that the client received. */
  readonly failure: string;
  readonly cause: unknown;
}

export function logFailure({ requestId, failure, cause }: FailureEntry): void {
  logger().error(failure, { requestId, cause: toError(cause) });
}

export interface LogEntry {
  readonly level: 'WARN' | 'ERROR';
  readonly message: string;
  readonly runId: string;
  readonly [field: string]: string | number | boolean | null;
}

/** Writes a log line of a migration. */
export function logEntry({ level, message, ...fields }: LogEntry): void {
  if (level === 'ERROR') logger().error(message, fields);
  else logger().warn(message, fields);
}

/** Fields of a request's log line, besides its counts. */
export interface RequestEntry {
  readonly requestId: string;
  /** Method and path of the route, such as `GET /transactions/{id}`. */
  readonly route: string;
  readonly status: number;
  readonly ledger: string | undefined;
}

export interface RequestCounts {
  readonly duration: number;
  readonly retries: number;
  readonly conflicts: number;
  readonly replays: number;
  readonly coldStarts: number;
}

/**
 * Writes one line, from which CloudWatch also extracts the metrics. The service is their only dimension: CloudWatch bills each
 * value of another dimension as separate metrics, and the gateway already reports latency and errors by route.
 */
export function logRequest({ ledger, ...entry }: RequestEntry, counts: RequestCounts): void {
  for (const [name, count] of Object.entries(counts)) {
    metrics().addMetric(
      name,
      name === 'duration' ? MetricUnit.Milliseconds : MetricUnit.Count,
      count,
    );
  }
  const { service, ...values } = metrics().serializeMetrics();
  metrics().clearMetrics();
  logger().info('request', { ...entry, ...values, ...(ledger && { ledger: hashLedger(ledger) }) });
}

// The hash tells ledgers apart in a log, and cannot be used to address one.
function hashLedger(ledger: string): string {
  return createHash('sha256').update(ledger).digest('hex').slice(0, 12);
}

/**
 * Wraps thrown values that are not errors, so that the field is always an object: a field that is sometimes text cannot be
 * searched.
 */
function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  return Object.assign(new Error(String(thrown)), { name: typeof thrown, stack: undefined });
}
