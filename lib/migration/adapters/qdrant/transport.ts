// One request to Qdrant: key, time limit, tries. The only file that knows its envelope.
import { DEFAULT_RETRY_POLICY, type RetryPolicy, retry } from '../../../retry.ts';
import { writeJson } from '../../json/json-text.ts';
import {
  UnexpectedReplyError,
  VectorStoreUnavailableError,
} from '../../ports/vector-store-errors.ts';
import { toFailure, toUnavailable } from './failures.ts';

export interface QdrantConnection {
  /** Such as `https://qdrant.internal:6333`. */
  readonly url: string;
  readonly apiKey?: string | undefined;
  /** Longest wait for one whole answer. Below the 300 s after which fetch gives up by itself. */
  readonly timeoutMs?: number;
  readonly pace?: RetryPolicy;
  readonly fetch?: typeof fetch;
}

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** May hold verbatim parts. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** False for what must not happen twice, and where the caller looks at the outcome itself. */
  readonly again?: boolean;
}

export type Transport = ReturnType<typeof createTransport>;

const TIMEOUT_MS = 60_000;

// A store that restarts is waited for. Whoever waits longer asks anew, for the turn may be over by then.
export const PATIENT_PACE: RetryPolicy = {
  ...DEFAULT_RETRY_POLICY,
  firstDelayMs: 100,
  longestDelayMs: 10_000,
  deadlineMs: 45_000,
};

/** Of a call with all its tries; streams of a snapshot excepted. */
export const LONGEST_CALL_MS = PATIENT_PACE.deadlineMs + TIMEOUT_MS;

export function createTransport(connection: QdrantConnection) {
  const { timeoutMs = TIMEOUT_MS, pace = PATIENT_PACE } = connection;
  const fetchReply = connection.fetch ?? fetch;
  const baseUrl = connection.url.replace(/\/+$/, '');
  const patience: RetryPolicy = { ...pace, requestedDelayMs };

  /** A reply that is a success, its body unread. The time limit covers the head, and `signal` the rest. */
  async function open(call: Call, signal: AbortSignal): Promise<Response> {
    const name = nameOf(call);
    const init = { ...requestOf(call), signal };
    const reply = await fetchReply(baseUrl + call.path, init).catch((cause) => {
      throw toUnavailable(name, cause);
    });
    if (reply.ok) return reply;
    throw await toFailure(name, reply);
  }

  /** The body of the answer, as text. */
  async function text(call: Call): Promise<string> {
    const attempt = async () => {
      const reply = await open(call, AbortSignal.timeout(timeoutMs));
      return reply.text().catch((cause) => {
        throw toUnavailable(nameOf(call), cause);
      });
    };
    return call.again === false ? attempt() : retry(patience, isPassing, attempt);
  }

  /** What the envelope holds. */
  async function result<Result>(call: Call): Promise<Result> {
    const { status, result } = parseEnvelope<Result>(nameOf(call), await text(call));
    if (status !== 'ok' || result === undefined) {
      throw new UnexpectedReplyError(`${nameOf(call)}: answered with status ${String(status)}`);
    }
    return result;
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

  return { open, text, result, authorization, baseUrl, timeoutMs };
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
    // Not as the cause: what a parser says quotes the answer, which may hold users' ids.
    throw new UnexpectedReplyError(`${name}: the answer is not JSON`);
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof VectorStoreUnavailableError;
}

function requestedDelayMs(error: unknown): number {
  return error instanceof VectorStoreUnavailableError ? error.retryAfterMs : 0;
}

function nameOf({ method = 'GET', path }: Call): string {
  return `${method} ${path}`;
}
