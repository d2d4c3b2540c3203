// A request to the service, and how it fails: what every part of the page that writes has to tell apart.
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
