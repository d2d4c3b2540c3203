// One HTTP request to a service of the migration. A failure says whether a retry can help.
import { Refusal, RetryableFailure } from '../refusals.ts';

export interface HttpCall {
  readonly url: string;
  /** Names the service and the operation in messages. The URL is left out: it may contain secrets. */
  readonly name: string;
}

interface HttpRequest extends HttpCall {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string | undefined;
}

/** These pass by themselves; 409 to 422 and their like are refusals. */
export const PASSING = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Any response, its body unread. @throws RetryableFailure when there is none */
export async function send(
  { url, name, method, body, ...given }: HttpRequest,
  signal: AbortSignal,
  by = fetch,
): Promise<Response> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const headers = { ...given.headers, ...type };
  // Another host that a redirection names would be sent the key.
  const init = { method, headers, signal, redirect: 'manual', ...(body && { body }) } as const;
  return await by(url, init).catch((cause) => {
    throw noAnswer({ url, name }, cause);
  });
}

/** @throws RetryableFailure when it breaks off */
export async function textOf(response: Response, call: HttpCall): Promise<string> {
  return await response.text().catch((cause) => {
    throw noAnswer(call, cause);
  });
}

/**
 * Any answer that is final, refusals by the other side included; without a body where that is no JSON.
 * @throws RetryableFailure when there is no answer, or one that says to come again
 */
export async function requestJson(request: HttpRequest, timeoutMs: number) {
  const response = await send(request, AbortSignal.timeout(timeoutMs));
  const { status } = response;
  const text = await textOf(response, request);
  if (!PASSING.has(status)) return { status, body: parsed(text) };
  const why = `${request.name}: ${status}.`;
  throw new RetryableFailure('RetryableUnavailable', why, { answer: status });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The socket broke, or time was up: the service may have carried the request out. A refused connection is an answer. */
export function noAnswer({ url, name }: HttpCall, cause: unknown): RetryableFailure | Refusal {
  const reason = describeReason(cause);
  const misconfigured = MISCONFIGURED.find(({ codes }) => codes.test(reason));
  if (misconfigured) {
    const why = `${name}: ${URL.parse(url)?.host} ${misconfigured.why} (${reason}).`;
    return new Refusal('RefusedSetting', why, { cause, answer: reason });
  }
  const why = `${name}: no answer from ${URL.parse(url)?.host} (${reason}).`;
  const answer = reason === 'ECONNREFUSED' ? { answer: reason } : {};
  return new RetryableFailure('RetryableUnavailable', why, { cause, ...answer });
}

/** Failures that last until the operator changes something: they are not retried. */
const MISCONFIGURED: readonly { readonly codes: RegExp; readonly why: string }[] = [
  {
    codes:
      /^(DEPTH_ZERO_)?SELF_SIGNED_CERT|^UNABLE_TO_(VERIFY|GET_ISSUER)|^CERT_(UNTRUSTED|SIGNATURE)/,
    why: 'has a certificate that Node.js does not trust: name the file of its authority with NODE_EXTRA_CA_CERTS',
  },
  {
    codes: /^CERT_HAS_EXPIRED|^CERT_NOT_YET_VALID/,
    why: 'has a certificate that is not valid now',
  },
  {
    codes: /^ERR_TLS_CERT_ALTNAME_INVALID/,
    why: 'has a certificate for another host: give the name that is in it',
  },
  {
    codes: /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)/,
    why: 'does not speak https on that port: give an http address, or the https port',
  },
  {
    codes: /^HPE_INVALID_(CONSTANT|VERSION)|Expected HTTP\//,
    why: 'does not speak HTTP/1.1 on that port: of Qdrant, give the REST port (6333), not that of gRPC (6334)',
  },
];

/** `fetch` says only "fetch failed": the reason is in its cause, as a code or, without one, in words without the path. */
function describeReason(error: unknown): string {
  const { name, code, message, cause } = error as Failure & { cause?: Failure };
  const known = cause?.code ?? cause?.message ?? code;
  if (typeof known === 'string') return known;
  return name === 'Error' ? message : name;
}

type Failure = Error & { readonly code?: unknown };
