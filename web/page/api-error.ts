// The types of a request and of its failure, which every part of the page distinguishes by status, code and whether a retry
// makes sense.
import type { Failure } from '../../lib/ledger/http/api-types.ts';

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

type Refusal = Partial<Failure> & {
  readonly status: number;
  readonly requestId: string;
  readonly isRetryable: boolean;
};

const FIRST_PAUSE_MS = 500;
export const MAX_PAUSE_MS = 20_000;

/** Time before the next attempt. @param failures earlier attempts without a response */
export function pauseAfter(failures: number): number {
  return Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures);
}

/** Status of the response to a write that is based on an outdated version */
export const PRECONDITION_FAILED = 412;

/** Returns the sentence that the page shows. */
export function describeFailure(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** A failed request; `message` is the sentence that the page shows. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly requestId: string | undefined;
  readonly code: Failure['error'] | undefined;
  readonly details: Readonly<Record<string, readonly string[]>>;
  readonly existingId: number | undefined;
  /** True if the response was lost or invites another attempt. The request may have been applied. */
  readonly isRetryable: boolean;

  constructor(message: string, refusal: Partial<Refusal> = {}) {
    super(message);
    this.status = refusal.status ?? 0;
    this.requestId = refusal.requestId || undefined;
    this.code = refusal.error;
    this.details = refusal.details ?? {};
    this.existingId = refusal.existing_id;
    this.isRetryable = refusal.isRetryable ?? true;
  }

  /** Returns why this parameter was refused; undefined if the request would also fail without it. */
  refusalOf(parameter: string): string | undefined {
    const isOnlyParameter = Object.keys(this.details).join() === parameter;
    return this.code === 'validation_failed' && isOnlyParameter
      ? this.details[parameter]?.join(' ')
      : undefined;
  }
}
