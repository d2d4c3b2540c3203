// Structured log lines: one JSON object each. Amounts, descriptions and names never go into a log.

export interface FailureEntry {
  readonly requestId: string;
  /** What the client was told. */
  readonly failure: string;
  readonly cause: unknown;
}

export function logFailure({ requestId, failure, cause }: FailureEntry): void {
  console.error(
    JSON.stringify({ level: 'ERROR', requestId, message: failure, cause: describe(cause) }),
  );
}

function describe(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const { name, message, stack } = error;
  return { name, message, stack, ...(error.cause ? { cause: describe(error.cause) } : {}) };
}
