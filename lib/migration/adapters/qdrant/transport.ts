// Sends requests to Qdrant with key, timeout and retries, unwraps the result, and translates unsuccessful responses.
import { DEFAULT_RETRY_POLICY, type RetryPolicy, retry } from '../../../shared/retry.ts';
import { writeJson } from '../../json/json-text.ts';
import {
  isRetryableFailure,
  Refusal,
  RetryableFailure,
  recoverWith,
  whenRefusedWith,
} from '../../refusals.ts';
import { type HttpCall, readText, send, TRANSIENT_STATUSES } from '../http.ts';

export interface QdrantConnection {
  /** For example `https://qdrant.internal:6333` */
  readonly url: string;
  readonly apiKey?: string | undefined;
  /** Timeout of one complete response; must be below the 300 s after which fetch itself gives up */
  readonly timeoutMs?: number;
  readonly pace?: RetryPolicy;
  readonly fetch?: typeof fetch;
}

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** JSON body; parts of it may be verbatim text */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** False for a request that must not be sent twice, or whose caller checks the outcome itself */
  readonly isRetried?: boolean;
}

export type Transport = ReturnType<typeof createTransport>;

const TIMEOUT_MS = 60_000;

// Retries for as long as a store may take to restart. After that the whole step is retried, because its lease may have expired.
export const PATIENT_PACE: RetryPolicy = {
  ...DEFAULT_RETRY_POLICY,
  firstDelayMs: 100,
  maxDelayMs: 10_000,
  deadlineMs: 45_000,
};

/** Longest duration of a call with all its retries; streamed snapshots take longer. @internal A test compares it with the lease. */
export const MAX_CALL_MS = PATIENT_PACE.deadlineMs + TIMEOUT_MS;

export function createTransport(connection: QdrantConnection) {
  const { timeoutMs = TIMEOUT_MS, pace = PATIENT_PACE } = connection;
  const baseUrl = connection.url.replace(/\/+$/, '');

  /** Returns a successful response, with its body unread. The signal also aborts reading the body. */
  async function openResponse(call: Call, signal: AbortSignal): Promise<Response> {
    const { method = 'GET', body } = call;
    const headers = { ...keyHeaders(), ...call.headers };
    const request = { ...toHttpCall(call), method, headers, body: body && writeJson(body) };
    const response = await send(request, signal, connection.fetch);
    if (response.ok) return response;
    throw await toFailure(nameRequest(call), response);
  }

  /** Fetches the body of the response, as text. */
  async function fetchText(call: Call): Promise<string> {
    const attempt = async () =>
      await readText(await openResponse(call, AbortSignal.timeout(timeoutMs)), toHttpCall(call));
    return call.isRetried === false ? attempt() : withRetries(attempt);
  }

  function toHttpCall(call: Call): HttpCall {
    return { url: baseUrl + call.path, name: `${SERVICE}: ${nameRequest(call)}` };
  }

  /** Fetches the result, without the response's envelope. */
  async function fetchResult<Result>(call: Call): Promise<Result> {
    const { status, result } = parseEnvelope<Result>(nameRequest(call), await fetchText(call));
    if (status !== 'ok' || result === undefined) {
      throw refuseResponse(`${nameRequest(call)}: answered with status ${String(status)}`);
    }
    return result;
  }

  /** Writes points. Only the status `completed` means that the write is durable; other results have HTTP status 200 as well. */
  async function write(call: Call): Promise<void> {
    const { status } = await fetchResult<{ status: string }>(call);
    if (status !== 'completed')
      throw storeUnavailable(`${nameRequest(call)}: answered "${status}"`);
  }

  /** Makes a change that must not be made twice: after a lost response, the request is repeated only if the change is not done. */
  async function changeOnce(call: Call, isDone: () => Promise<boolean>): Promise<void> {
    let isRetry = false;
    await withRetries(async () => {
      if (isRetry && (await isDone())) return;
      isRetry = true;
      await fetchResult({ ...call, isRetried: false });
    });
  }

  function withRetries<Result>(attempt: () => Promise<Result>): Promise<Result> {
    return retry({ ...pace, requestedDelayMs: readRequestedDelayMs }, isRetryableFailure, attempt);
  }

  function keyHeaders(): Record<string, string> {
    return connection.apiKey ? { 'api-key': connection.apiKey } : {};
  }

  return {
    ...{ openResponse, fetchText, fetchResult, write, changeOnce },
    ...{ keyHeaders, toHttpCall, timeoutMs },
  };
}

const SERVICE = 'The vector store of QDRANT_URL';

interface Envelope<Result> {
  readonly status?: unknown;
  readonly result?: Result;
}

function parseEnvelope<Result>(name: string, text: string): Envelope<Result> {
  try {
    return JSON.parse(text) as Envelope<Result>;
  } catch {
    // The refusal has no cause: a parser's message quotes the response, which may contain users' ids.
    throw refuseResponse(`${name}: the response is not JSON`);
  }
}

/** Turns a 404 response into `undefined`. */
export const undefinedIfNotFound = recoverWith(undefined, whenRefusedWith(404));

function readRequestedDelayMs(error: unknown): number {
  return isRetryableFailure(error) ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
}

function nameRequest({ method = 'GET', path }: Call): string {
  return `${method} ${path}`;
}

export function collectionPath(collection: string, rest = ''): string {
  return `/collections/${encodeURIComponent(collection)}${rest}`;
}

/** Creates the refusal of a response that is not in the store's format. */
function refuseResponse(why: string): Refusal {
  return new Refusal('RefusedByService', `${why}.`);
}

type RetryableOptions = ConstructorParameters<typeof RetryableFailure>[2];

function storeUnavailable(why: string, options?: RetryableOptions): RetryableFailure {
  return new RetryableFailure('RetryableUnavailable', `${SERVICE}: ${why}.`, options);
}

// Older stores report a full disk as an internal error, which would be retried in vain.
const EXHAUSTED = /no space left|out of memory|disk (is )?full|not enough (disk )?space/i;

/** Translates an unsuccessful response into an error. Reads its body. */
export async function toFailure(call: string, response: Response): Promise<Error> {
  const { headers } = response;
  const reason = readReason(await response.text());
  // The status of a request that is too large depends on the store's version.
  const status = /larger than allowed/i.test(reason) ? TOO_LARGE : response.status;
  const limit = response.status === TOO_LARGE ? BODY_LIMIT : '';
  const why = `${call}: ${response.status} ${redact(reason)}${limit}`.trim();
  const refuse = (name: ConstructorParameters<typeof Refusal>[0]) =>
    new Refusal(name, `${why}.`, { code: status });
  if (status === 401 || status === 403) return refuse('RefusedCredentials');
  if (status === 507 || (status === 500 && EXHAUSTED.test(reason))) {
    return refuse('RefusedStoreFull');
  }
  if (!TRANSIENT_STATUSES.has(status)) return refuse('RefusedByService');
  return storeUnavailable(why, { code: status, retryAfterSeconds: readRetryAfterSeconds(headers) });
}

/** Status for a body that is larger than the store, or a proxy in front of it, accepts */
export const TOO_LARGE = 413;

const BODY_LIMIT =
  ' (a proxy in front of the store accepts no body of that size: raise its limit, such as client_max_body_size of nginx, above the size of a snapshot)';

const MAX_REASON_LENGTH = 300;
const QUOTED = /(["`])[\s\S]*?(?:\1|$)|(?<!\w)'.*?'(?!\w)/g;
const UUID = /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi;

// Removes quotations, because a store may quote a memory. The collection and the snapshot are still named by the request's path.
function redact(reason: string): string {
  const unquoted = reason.replace(QUOTED, '…').replace(UUID, '…');
  return unquoted.length > MAX_REASON_LENGTH
    ? `${unquoted.slice(0, MAX_REASON_LENGTH)}…`
    : unquoted;
}

// The body is `{"status":{"error":"text"}}`, or plain text for a refused key or a missing file.
function readReason(body: string): string {
  try {
    const { status } = JSON.parse(body) as { status?: { error?: unknown } };
    return String(status?.error ?? body);
  } catch {
    return body;
  }
}

function readRetryAfterSeconds(headers: Headers): number {
  const seconds = Number(headers.get('retry-after') ?? 0);
  return Number.isFinite(seconds) ? seconds : 0;
}
