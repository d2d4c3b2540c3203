// A request to the service, and how it fails: what every part of the page has to tell apart.
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
const MAX_PAUSE_MS = 20_000;

/** Time before the next attempt. @param failures earlier attempts that were not answered */
export function pauseAfter(failures: number): number {
  return Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures);
}

/** A request that failed, with what the page says about it. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly requestId: string | undefined;
  readonly code: Failure['error'] | undefined;
  readonly details: Readonly<Record<string, readonly string[]>>;
  readonly existingId: number | undefined;
  /** The answer was lost, or asks for another attempt: whether the request was applied is not known. */
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

  /** Why this parameter was refused; undefined where the request would fail without it, too. */
  refusalOf(parameter: string): string | undefined {
    const isOnlyOne = Object.keys(this.details).join() === parameter;
    return this.code === 'validation_failed' && isOnlyOne
      ? this.details[parameter]?.join(' ')
      : undefined;
  }
}
