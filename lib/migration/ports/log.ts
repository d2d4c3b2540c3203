// Structured log entries, without users' ids, memory text or secrets.

export interface LogEntry {
  readonly level: 'WARN' | 'ERROR';
  readonly message: string;
  readonly runId: string;
  readonly [field: string]: string | number | boolean | null;
}

export type Log = (entry: LogEntry) => void;

/** One JSON object a line, as the platform's log takes them. */
export const logLine: Log = (entry) => console.error(JSON.stringify(entry));
