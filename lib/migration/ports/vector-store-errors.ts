// How a vector store fails. Only an unavailable one is worth another try; the others need a decision.

/** The store cannot be reached, is overloaded or failed by itself, and went on doing so. */
export class VectorStoreUnavailableError extends Error {
  override readonly name = 'VectorStoreUnavailableError';
  /** Earliest next try the store asks for. */
  readonly retryAfterMs: number;

  constructor(message: string, options: ErrorOptions & { retryAfterMs?: number } = {}) {
    super(message, options);
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }
}

/** The key is missing, wrong, or may not do this. */
export class VectorStoreAccessDeniedError extends Error {
  override readonly name = 'VectorStoreAccessDeniedError';
}

/** The store understood and says no; asking again gives the same answer. */
export class VectorStoreRefusedError extends Error {
  override readonly name = 'VectorStoreRefusedError';
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** The request has more bytes than the store takes: send less at once. */
export class VectorStoreBodyTooLargeError extends Error {
  override readonly name = 'VectorStoreBodyTooLargeError';
}

/** The store has no room left; it is worth another try only after space was freed. */
export class VectorStoreFullError extends Error {
  override readonly name = 'VectorStoreFullError';
}

/** The store took the write, but does not say that it is done. */
export class WriteNotCompletedError extends Error {
  override readonly name = 'WriteNotCompletedError';
}

/** The answer is none that this store gives. */
export class UnexpectedReplyError extends Error {
  override readonly name = 'UnexpectedReplyError';
}
