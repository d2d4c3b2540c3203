// Structured log lines: one JSON object each, so that CloudWatch can search every field. Amounts, descriptions, names, keys and
// tokens never go into a log.
import { createHash } from 'node:crypto';

export interface FailureEntry {
  readonly requestId: string;
  /** The message that the client received. */
  readonly failure: string;
  readonly cause: unknown;
}

export function logFailure({ requestId, failure, cause }: FailureEntry): void {
  writeLine({ level: 'ERROR', requestId, message: failure, cause: describe(cause) });
}

export interface RequestEntry {
  readonly requestId: string;
  /** Such as `GET /transactions/{id}`. */
  readonly route: string;
  readonly status: number;
  readonly duration: number;
  readonly ledger: string | undefined;
  readonly retries: number;
  readonly conflicts: number;
  readonly replays: number;
  readonly coldStarts: number;
}

const METRICS = [
  { Name: 'duration', Unit: 'Milliseconds' },
  ...['retries', 'conflicts', 'replays', 'coldStarts'].map((Name) => ({ Name, Unit: 'Count' })),
];

/**
 * A line that CloudWatch takes metrics from (embedded metric format). They have no dimensions, because each value of
 * one would be billed as metrics of its own; the gateway has latency and errors by route.
 */
export function logRequest(Namespace: string, { ledger, ...entry }: RequestEntry): void {
  const line = {
    _aws: {
      Timestamp: Date.now(),
      CloudWatchMetrics: [{ Namespace, Dimensions: [[]], Metrics: METRICS }],
    },
    level: 'INFO',
    message: 'request',
    ...entry,
    ...(ledger === undefined ? {} : { ledger: hashOf(ledger) }),
  };
  writeLine(line);
}

// Not by console: where the log format is JSON, that wraps the line as a text, whose fields nothing can search.
function writeLine(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

// Enough to tell ledgers apart in a log, and nothing to address one with.
function hashOf(ledger: string): string {
  return createHash('sha256').update(ledger).digest('hex').slice(0, 12);
}

/** An object, whatever was thrown: a field that is an object on one line and a text on another cannot be searched. */
function describe(error: unknown): object {
  if (!(error instanceof Error)) return { name: typeof error, message: String(error) };
  const { name, message, stack } = error;
  return { name, message, stack, ...(error.cause ? { cause: describe(error.cause) } : {}) };
}
