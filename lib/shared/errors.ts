// Errors of the environment and of calls to the database. Each has a literal name, which minification does not change.

/** An environment variable that the program needs is missing or unusable. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** Another request changed the record between the read and the write. */
export class StaleRecordError extends Error {
  override readonly name = 'StaleRecordError';
  /** The record as it was when the write failed; undefined if it must be read again. */
  readonly current: unknown;

  constructor(message: string, current?: unknown) {
    super(message);
    this.current = current;
  }
}

/** Until the deadline, another transaction was writing the same item. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

/** The deadline of the request passed before a call could start. */
export class DeadlineExceededError extends Error {
  override readonly name = 'DeadlineExceededError';
}

/** All responses to a write were lost, and nothing shows whether it was applied. */
export class OutcomeUnknownError extends Error {
  override readonly name = 'OutcomeUnknownError';
}
