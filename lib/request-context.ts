// What the code below the edge knows of the request it serves: how long it may take, its id, its ledger.

export interface RequestContext {
  /** No call to the database starts after it, in milliseconds of the retry policy's clock. */
  readonly deadline: number;
  /** Aborts at the deadline. */
  readonly signal: AbortSignal;
  /** In the response, and in each log line of the request. */
  readonly requestId: string;
  /** Id of the ledger whose records are read and written; part of every key. */
  readonly ledger: string;
  /** Called with each error after which a call to the database is tried again. */
  readonly onRetry?: (error: unknown) => void;
}

/** What a call to the database has to keep to. */
export type RequestLimits = Pick<RequestContext, 'deadline' | 'signal' | 'onRetry'>;
