// One request to Qdrant: key, timeout, retries, envelope; and what each unsuccessful response means.
import { DEFAULT_RETRY_POLICY, type RetryPolicy, retry } from '../../../retry.ts';
import { writeJson } from '../../json/json-text.ts';
import {
  isRefusedWith,
  isRetryableFailure,
  Refusal,
  RetryableFailure,
  takeAs,
} from '../../refusals.ts';
import { reasonOf } from '../json-over-http.ts';

export interface QdrantConnection {
  /** Such as `https://qdrant.internal:6333`. */
  readonly url: string;
  readonly apiKey?: string | undefined;
  /** Longest wait for one whole response. Below the 300 s after which fetch gives up by itself. */
  readonly timeoutMs?: number;
  readonly pace?: RetryPolicy;
  readonly fetch?: typeof fetch;
}

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** May hold verbatim parts. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** False for a request that must not be sent twice, or whose caller looks up the outcome itself. */
  readonly again?: boolean;
}

export type Transport = ReturnType<typeof createTransport>;

const TIMEOUT_MS = 60_000;

// Long enough for a store that restarts. A caller that waits longer retries the step, for its lease may be over by then.
export const PATIENT_PACE: RetryPolicy = {
  ...DEFAULT_RETRY_POLICY,
  firstDelayMs: 100,
  longestDelayMs: 10_000,
  deadlineMs: 45_000,
};

/** @internal A test compares it with the lease: of a call with all its retries; streams of a snapshot excepted. */
export const LONGEST_CALL_MS = PATIENT_PACE.deadlineMs + TIMEOUT_MS;

export function createTransport(connection: QdrantConnection) {
  const { timeoutMs = TIMEOUT_MS, pace = PATIENT_PACE } = connection;
  const send = connection.fetch ?? fetch;
  const baseUrl = connection.url.replace(/\/+$/, '');

  /** A successful response, its body unread. The timeout covers the head, and `signal` the rest. */
  async function open(call: Call, signal: AbortSignal): Promise<Response> {
    const name = nameOf(call);
    // Another host that a redirection names would be sent the key.
    const request = { ...requestOf(call), signal, redirect: 'manual' } as const;
    const response = await send(baseUrl + call.path, request).catch((cause) => {
      throw noAnswer(baseUrl, name, cause);
    });
    if (response.ok) return response;
    throw await failureOf(name, response);
  }

  /** The body of the response, as text. */
  async function text(call: Call): Promise<string> {
    const attempt = async () => {
      const response = await open(call, AbortSignal.timeout(timeoutMs));
      return response.text().catch((cause) => {
        throw noAnswer(baseUrl, nameOf(call), cause);
      });
    };
    return call.again === false ? attempt() : retried(attempt);
  }

  /** What the envelope holds. */
  async function result<Result>(call: Call): Promise<Result> {
    const { status, result } = parseEnvelope<Result>(nameOf(call), await text(call));
    if (status !== 'ok' || result === undefined) {
      throw unexpected(`${nameOf(call)}: answered with status ${String(status)}`);
    }
    return result;
  }

  /** A write of points. Only `completed` means that it is done and durable; the others come with a 200, too. */
  async function write(call: Call): Promise<void> {
    const { status } = await result<{ status: string }>(call);
    if (status !== 'completed') throw unavailable(`${nameOf(call)}: answered "${status}"`);
  }

  /** A change that may not be made twice: after a lost response, looks up whether it was made before it is sent again. */
  async function change(call: Call, isMade: () => Promise<boolean>): Promise<void> {
    let isRetry = false;
    await retried(async () => {
      if (isRetry && (await isMade())) return;
      isRetry = true;
      await result({ ...call, again: false });
    });
  }

  function retried<Result>(attempt: () => Promise<Result>): Promise<Result> {
    return retry({ ...pace, requestedDelayMs }, isRetryableFailure, attempt);
  }

  function requestOf({ method = 'GET', body, headers = {} }: Call) {
    return {
      method,
      headers: { ...authorization(), ...headers, ...(body ? { 'content-type': JSON_TYPE } : {}) },
      ...(body ? { body: writeJson(body) } : {}),
    };
  }

  function authorization(): Record<string, string> {
    return connection.apiKey ? { 'api-key': connection.apiKey } : {};
  }

  return { open, text, result, write, change, authorization, baseUrl, timeoutMs };
}

const JSON_TYPE = 'application/json';

interface Envelope<Result> {
  readonly status?: unknown;
  readonly result?: Result;
}

function parseEnvelope<Result>(name: string, text: string): Envelope<Result> {
  try {
    return JSON.parse(text) as Envelope<Result>;
  } catch {
    // Not as the cause: a parser's message quotes the response, which may hold users' ids.
    throw unexpected(`${name}: the answer is not JSON`);
  }
}

/** Takes a response 404 as `undefined`. */
export const unlessFound = takeAs(undefined, (failure) => isRefusedWith(failure, 404));

function requestedDelayMs(error: unknown): number {
  return error instanceof RetryableFailure ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
}

function nameOf({ method = 'GET', path }: Call): string {
  return `${method} ${path}`;
}

export function pathOf(collection: string, rest = ''): string {
  return `/collections/${encodeURIComponent(collection)}${rest}`;
}

/** The response is none that this store gives. */
export function unexpected(why: string): Refusal {
  return new Refusal('RefusedByService', `${why}.`);
}

/** The socket broke, or time was up: the store may have carried the request out. */
export function noAnswer(url: string, call: string, cause: unknown): RetryableFailure {
  const why = `${call}: no answer from ${URL.parse(url)?.host} (${reasonOf(cause)})`;
  return unavailable(why, { cause });
}

type RetryableOptions = ConstructorParameters<typeof RetryableFailure>[2];

function unavailable(why: string, options?: RetryableOptions): RetryableFailure {
  const service = 'The vector store of QDRANT_URL';
  return new RetryableFailure('RetryableUnavailable', `${service}: ${why}.`, options);
}

// 409 to 422 and their like are refusals; these pass by themselves.
const PASSING = new Set([408, 429, 500, 502, 503, 504]);

// A store before quotas reports a full disk as an internal error, which no retry can help.
const EXHAUSTED = /no space left|out of memory|disk (is )?full|not enough (disk )?space/i;

/** What an unsuccessful response means. Reads its body. */
export async function failureOf(call: string, response: Response): Promise<Error> {
  const { headers } = response;
  const reason = reasonIn(await response.text());
  // In whichever status it comes, it has one meaning: send less at once.
  const status = /larger than allowed/i.test(reason) ? TOO_LARGE : response.status;
  const why = `${call}: ${response.status} ${sayable(reason, call)}`.trim();
  const refused = (name: ConstructorParameters<typeof Refusal>[0]) =>
    new Refusal(name, `${why}.`, { answer: status });
  if (status === 401 || status === 403) return refused('RefusedCredentials');
  if (status === 507 || (status === 500 && EXHAUSTED.test(reason))) {
    return refused('RefusedStoreFull');
  }
  if (!PASSING.has(status)) return refused('RefusedByService');
  return unavailable(why, { answer: status, retryAfterSeconds: retryAfterSeconds(headers) });
}

/** More bytes than the store takes at once. */
const TOO_LARGE = 413;

const LONGEST_REASON = 300;
const OWN_WORDS = new Set(['user_id', 'agent_id', 'run_id', 'actor_id', 'bm25', 'keyword']);
const UUID = /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi;

// A store may quote a memory: only words that the call names anyway are shown, and no more than can be read.
function sayable(reason: string, call: string): string {
  const isOurs = (words: string) => OWN_WORDS.has(words) || call.includes(words);
  const quoteless = reason
    .replace(/(["`])([\s\S]*?)(?:\1|$)/g, (quoted, _, words: string) =>
      isOurs(words) ? quoted : '…',
    )
    .replace(/(?<!\w)'(.*?)'(?!\w)/g, (quoted, words: string) => (isOurs(words) ? quoted : '…'))
    .replace(UUID, (id) => (isOurs(id) ? id : '…'));
  return quoteless.length > LONGEST_REASON ? `${quoteless.slice(0, LONGEST_REASON)}…` : quoteless;
}

// `{"status":{"error":"text"}}`, except that the key check and missing files answer in plain text.
function reasonIn(body: string): string {
  try {
    const { status } = JSON.parse(body) as { status?: { error?: unknown } };
    return String(status?.error ?? body);
  } catch {
    return body;
  }
}

function retryAfterSeconds(headers: Headers): number {
  const seconds = Number(headers.get('retry-after') ?? 0);
  return Number.isFinite(seconds) ? seconds : 0;
}
