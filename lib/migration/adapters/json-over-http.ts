// One JSON request; a failure says whether a retry can help.
import { RetryableFailure } from '../refusals.ts';

export interface HttpReply {
  readonly status: number;
  /** Undefined when there is none, or it is no JSON. */
  readonly body: unknown;
}

export interface JsonRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly timeoutMs: number;
  /** Who is asked, and the variable that names it. */
  readonly service: string;
  /** What the request is called in messages: its URL may hold what nobody should read. */
  readonly endpoint: string;
}

const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * Any answer that is final, refusals by the other side included.
 * @throws RetryableFailure when there is no answer, or one that says to come again
 */
export async function requestJson(request: JsonRequest): Promise<HttpReply> {
  const { method, url, body, timeoutMs, service, endpoint } = request;
  const call = `${service}: ${method} ${endpoint}`;
  const host = URL.parse(url)?.host;
  try {
    const reply = await fetch(url, {
      method,
      headers: { ...request.headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await reply.text();
    const { status } = reply;
    if (!PASSING.has(status)) return { status, body: parsed(text) };
    throw new RetryableFailure('RetryableUnavailable', `${call}: ${status}.`, { answer: status });
  } catch (error) {
    if (error instanceof RetryableFailure) throw error;
    const why = `${call}: no answer from ${host} (${reasonOf(error)}).`;
    throw new RetryableFailure('RetryableUnavailable', why, { cause: error, ...codeOf(error) });
  }
}

/** `fetch` says only "fetch failed": the reason is in its cause, as a code or, without one, in words without the path. */
export function reasonOf(error: unknown): string {
  const { name, code, message, cause } = error as Failure & { cause?: Failure };
  const known = cause?.code ?? cause?.message ?? code;
  if (typeof known === 'string') return known;
  return name === 'Error' ? message : name;
}

type Failure = Error & { readonly code?: unknown };

/** A refused connection is an answer; after any other failure the request may have been carried out. */
function codeOf(error: unknown): { readonly answer?: string } {
  const code = (error as { cause?: { code?: string } }).cause?.code;
  return code === 'ECONNREFUSED' ? { answer: code } : {};
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
