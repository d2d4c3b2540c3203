// The requests of the page. The key is kept in this tab's session and sent to this service only.
import type { Failure } from './api-types.ts';

const STORED_KEY = 'api-key';

type Refusal = Partial<Failure> & { readonly status: number; readonly requestId: string };

/** A request that failed, with what the page says about it. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly requestId: string | undefined;
  readonly code: Failure['error'] | undefined;
  /** The sentences of each parameter that was refused. */
  readonly #details: Readonly<Record<string, readonly string[]>>;

  constructor(
    message: string,
    { status = 0, requestId = '', error, details = {} }: Partial<Refusal> = {},
  ) {
    super(message);
    this.status = status;
    this.requestId = requestId || undefined;
    this.code = error;
    this.#details = details;
  }

  /** Why this parameter was refused; undefined where the request would fail without it, too. */
  refusalOf(parameter: string): string | undefined {
    const isOnlyOne = Object.keys(this.#details).join() === parameter;
    return this.code === 'validation_failed' && isOnlyOne
      ? this.#details[parameter]?.join(' ')
      : undefined;
  }
}

export const storedKey = {
  read: () => sessionStorage.getItem(STORED_KEY) ?? undefined,
  write: (key: string) => sessionStorage.setItem(STORED_KEY, key),
  forget: () => sessionStorage.removeItem(STORED_KEY),
};

/**
 * @param path with its query, such as `/me`
 * @throws ApiError
 */
export async function get<Answer>(path: string, signal: AbortSignal): Promise<Answer> {
  const key = storedKey.read();
  const headers = { accept: 'application/json', ...(key && { authorization: `Bearer ${key}` }) };
  const response = await fetch(path, { headers, signal, cache: 'no-store' }).catch((error) => {
    signal.throwIfAborted();
    throw new ApiError(`The service cannot be reached (${error.message}).`);
  });
  const requestId = response.headers.get('x-request-id') ?? '';
  const { status } = response;
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined) return body as Answer;
  signal.throwIfAborted();
  const { error, message = 'no reason', details = {} } = (body ?? {}) as Partial<Failure>;
  const sentences = Object.entries(details).map(([name, each]) => `${name}: ${each.join(' ')}`);
  throw new ApiError(`The service answered ${status}: ${[message, ...sentences].join('. ')}`, {
    status,
    requestId,
    details,
    ...(error && { error }),
  });
}

/** A path with the parameters that have a value. */
export function pathOf(
  path: string,
  parameters: Readonly<Record<string, string | number | undefined>>,
): string {
  const sent = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(sent.map(([name, value]) => [name, String(value)]));
  return sent.length === 0 ? path : `${path}?${query}`;
}

/** A key that a header can carry. */
export function isSendable(key: string): boolean {
  return /^[!-~]{1,4096}$/.test(key);
}
