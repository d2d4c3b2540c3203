// The client of a running or deployed service, for commands that reach a ledger through its API.
import type { Responses } from '../../lib/ledger/http/api-types.ts';
import type { Operation } from '../../lib/ledger/http/replies.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy, retry } from '../../lib/shared/retry.ts';
import { UserError } from '../../lib/shared/user-error.ts';

export interface ServiceClientOptions {
  readonly url: string;
  /** Undefined if the service needs no key. */
  readonly key?: string | undefined;
  readonly userAgent: string;
  readonly retryPolicy?: RetryPolicy;
  readonly fetch?: typeof fetch;
}

export interface ServiceRequest {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** True if the request can be sent again when its outcome is unknown. */
  readonly isRepeatable?: boolean;
}

export interface StoredCategory {
  readonly id: number;
  readonly name: string;
  readonly isActive: boolean;
}

type DataOf<Body> = Body extends { readonly data: infer Data } ? Data : never;

export type ServiceClient = ReturnType<typeof createServiceClient>;

const RESPONSE_TIMEOUT_MS = 30_000;
const RETRY_POLICY = {
  ...DEFAULT_RETRY_POLICY,
  firstDelayMs: 200,
  maxDelayMs: 5_000,
  deadlineMs: 60_000,
};
/** For commands that send many requests, which wait until the service's throttle admits them. */
export const PATIENT_POLICY: RetryPolicy = {
  ...RETRY_POLICY,
  maxDelayMs: 30_000,
  deadlineMs: 900_000,
};
const NO_SERVER_CODES = ['ECONNREFUSED', 'ENOTFOUND'];
/** Network failures that may pass; other failures, such as those of TLS, would recur on every attempt. */
const TRANSIENT_CODES =
  /^(ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENETDOWN|UND_ERR_.*)$/;
const MAX_SHOWN_CHARACTERS = 200;
const KEY_ADVICE =
  '. Set API_KEY to a valid key: export API_KEY=$(npm run -s keys -- create --name my-key)';

/** Returns the address of the service that `npm start` runs. */
export function readLocalAddress(): string {
  return `http://localhost:${process.env.PORT || '3000'}`;
}

export function createServiceClient(options: ServiceClientOptions) {
  const { url, key, userAgent, fetch = globalThis.fetch } = options;
  const retryPolicy = {
    requestedDelayMs: readRequestedDelayMs,
    ...(options.retryPolicy ?? RETRY_POLICY),
  };

  async function send(method: string, path: string, { body, headers }: ServiceRequest) {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        'user-agent': userAgent,
        ...headers,
        ...(key && { authorization: `Bearer ${key}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    });
    const text = await response.text();
    if (response.status < 400) return text;
    const advice = response.status === 401 ? KEY_ADVICE : '';
    const message = `${method} ${url}${path} answered ${response.status}: ${readMessage(text)}${advice}`;
    const retryAfter = Number(response.headers.get('retry-after') ?? 0);
    throw Object.assign(new UserError(message), { status: response.status, retryAfter });
  }

  /** Sends a request, and retries transient failures. @throws UserError */
  async function request(method: string, path: string, requestOptions: ServiceRequest = {}) {
    const { isRepeatable = method === 'GET' } = requestOptions;
    const isRetryable = (error: unknown) => isTransient(error, isRepeatable);
    try {
      return await retry(retryPolicy, isRetryable, () => send(method, path, requestOptions));
    } catch (cause) {
      if (cause instanceof UserError) throw cause;
      const permanentCause = findPermanentCause(cause);
      if (permanentCause)
        throw new UserError(`${url} cannot be reached: ${permanentCause}.`, { cause });
      const message = `Nothing answers at ${url}. Start the service with npm start, or give its address with --url.`;
      throw new UserError(message, { cause });
    }
  }

  /** @returns the body of the operation's response. @throws UserError */
  async function requestJson<Id extends Operation>(
    ...parameters: Parameters<typeof request>
  ): Promise<Responses[Id]> {
    const text = await request(...parameters);
    try {
      return JSON.parse(text) as Responses[Id];
    } catch (cause) {
      throw new UserError(
        `${url} did not answer with JSON: ${text.slice(0, MAX_SHOWN_CHARACTERS)}`,
        {
          cause,
        },
      );
    }
  }

  /** @returns the `data` of the operation's response. @throws UserError */
  async function call<Id extends Operation>(
    ...parameters: Parameters<typeof request>
  ): Promise<DataOf<Responses[Id]>> {
    const body: { readonly data?: unknown } = Object(await requestJson<Id>(...parameters));
    return body.data as DataOf<Responses[Id]>;
  }

  /** Reads all categories, including inactive ones. */
  async function readCategories(): Promise<readonly StoredCategory[]> {
    const rows = await call<'listCategories'>('GET', '/categories?active_only=false');
    return rows.map(({ id, name, is_active: isActive }) => ({ id, name, isActive }));
  }

  /** Creates the categories whose names are missing. @returns the ids of all categories by name */
  async function ensureCategories(categories: Iterable<{ readonly name: string }>) {
    const ids = new Map((await readCategories()).map(({ id, name }) => [name, id]));
    for (const body of categories) {
      if (ids.has(body.name)) continue;
      const headers = { 'idempotency-key': crypto.randomUUID() };
      const request = { body, headers, isRepeatable: true };
      ids.set(body.name, (await call<'createCategory'>('POST', '/categories', request)).id);
    }
    return ids;
  }

  return { url, retryPolicy, requestJson, call, readCategories, ensureCategories };
}

function isTransient(error: unknown, isRepeatable: boolean): boolean {
  const { status, cause } = error as { status?: number; cause?: { code?: string } };
  if (status !== undefined) return status === 429 || (isRepeatable && status >= 500);
  return isRepeatable && !NO_SERVER_CODES.includes(cause?.code ?? '') && !findPermanentCause(error);
}

/** Says why no attempt can succeed: TLS, or a port that fetch refuses. Undefined if nothing answers, or a retry may succeed. */
function findPermanentCause(error: unknown): string | undefined {
  const { cause } = error as { cause?: { code?: string; message?: string } };
  const { code, message } = cause ?? {};
  if (
    message === undefined ||
    NO_SERVER_CODES.includes(code ?? '') ||
    TRANSIENT_CODES.test(code ?? '')
  )
    return;
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') return 'it does not speak TLS; try http://';
  return message.trim().split('\n', 1)[0];
}

/** Converts the Retry-After header, in seconds, to milliseconds. */
function readRequestedDelayMs(error: unknown): number {
  return ((error as { retryAfter?: number }).retryAfter || 0) * 1000;
}

/** Returns the message of an error response. A proxy in between may respond with text that is not JSON. */
function readMessage(text: string): string {
  try {
    return String(JSON.parse(text).message ?? text.slice(0, MAX_SHOWN_CHARACTERS));
  } catch {
    return text.slice(0, MAX_SHOWN_CHARACTERS);
  }
}
